"""A step of Lloyd's algorithm in scikit-learn and in faiss. Read behind peer_base.py.

The milliseconds of a step are a twentieth of (the time of 22 steps - the time of 2), so that what a run does once, checks
and copies of the data, is not counted. The first K rows are the initial centres. A run that ends early would make the
step too short, so it ends the peer."""
import time
import warnings

tune()

import numpy

FEW, MANY = 2, 22


def sklearn_steps():
    import sklearn
    from sklearn.cluster import KMeans

    def steps_taken(x, k, steps):
        return KMeans(k, init=x[:k], n_init=1, max_iter=steps, tol=0, algorithm="lloyd").fit(x).n_iter_

    return "scikit-learn " + sklearn.__version__, steps_taken


def faiss_steps():
    import faiss

    def steps_taken(x, k, steps):
        n, d = x.shape
        model = faiss.Kmeans(d, k, niter=steps, nredo=1, max_points_per_centroid=n, min_points_per_centroid=1)
        model.train(x, init_centroids=x[:k].copy())
        return len(model.obj)

    return "faiss " + faiss.__version__, steps_taken


warnings.simplefilter("ignore")
version, steps_taken = {"scikit-learn": sklearn_steps, "faiss": faiss_steps}[sys.argv[1]]()
samples = {}


def seconds(x, k, steps):
    began = time.perf_counter()
    taken = steps_taken(x, k, steps)
    if taken != steps:
        sys.exit(f"{version} ended after {taken} steps of {steps}")
    return time.perf_counter() - began


def run(shape):
    n, d, k = shape[:3]
    if (n, d) not in samples:
        samples[n, d] = numpy.random.default_rng(0).random((n, d), dtype=numpy.float32)
    x = samples[n, d]
    few, many = (seconds(x, k, steps) for steps in (FEW, MANY))
    return 1e3 * (many - few) / (MANY - FEW)


serve(version, run)
