"""What the peers of `tessera bench` share. The program runs a peer as

    python3 -c "$(cat peer_base.py peer_torch.py)" FORM

It says "ready" and its version, then answers each line of standard input with a line of one number: "run WORK ..." with
the milliseconds of one repetition (what takes less than a tenth of a second is done again and again for so long, after
once that does not count, and its mean taken: threads that sleep take their time to come), "memory" with its peak in
megabytes. It ends with its input. Where it fails, Python's own report on standard error ends with a line that says why:
that line is the program's reason, and a ModuleNotFoundError there means that the peer is not installed."""
import ctypes
import glob
import os
import sys

BRIEF_MS = 100


def kernels_of(library):
    """The name of the kernels that a copy of OpenBLAS uses, or "" where there is none."""
    try:
        name = ctypes.CDLL(library).openblas_get_corename
    except (OSError, AttributeError):
        return ""
    name.restype = ctypes.c_char_p
    return name().decode()


def loaded_kernels():
    with open("/proc/self/maps") as maps:
        libraries = {line.split()[-1] for line in maps if "libopenblas" in line}
    return "".join(sorted({kernels_of(library) for library in libraries}))


def whole(name):
    """What a variable of the environment says, if that is a whole number above 0; as OpenMP does not mind others."""
    text = os.environ.get(name, "").split(",")[0].strip()
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def cores():
    """Threads: so many as OpenMP would have."""
    threads = whole("OMP_NUM_THREADS") or len(os.sched_getaffinity(0))
    return min(threads, whole("OMP_THREAD_LIMIT") or threads)


def kernels_of_this_processor():
    """The name of OpenBLAS's kernels where it does not know the processor and takes those of 2004, or ""."""
    if kernels_of("libopenblas.so.0") != "Prescott":
        return ""
    with open("/proc/cpuinfo") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    return "SkylakeX" if "avx512dq" in flags else "Haswell" if "avx2" in flags else ""


def tune():
    """Starts this script again with the settings that are only read when a process starts: OpenBLAS with the threads
    of OpenMP, kernels of this processor, and a heap that keeps what it has instead of giving it back page by page."""
    if "TESSERA_PEER_TUNED" in os.environ:
        return
    tuned = dict(os.environ, TESSERA_PEER_TUNED="1")
    tuned.update(MALLOC_MMAP_MAX_="0", MALLOC_MMAP_THRESHOLD_=str(1 << 25))
    tuned.update(MALLOC_TRIM_THRESHOLD_=str(1 << 40), MALLOC_TOP_PAD_=str(1 << 28))
    folders = glob.glob("/usr/lib/*/openblas-openmp") + [os.environ.get("LD_LIBRARY_PATH", "")]
    tuned["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    name = kernels_of_this_processor()
    if name:
        tuned.setdefault("OPENBLAS_CORETYPE", name)
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().split(b"\0")[:-1]
    os.execve(sys.executable, words, tuned)


def peak_megabytes():
    """Not ru_maxrss, which begins with what the process held that started this one."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def mean_of_many(run, shape):
    times = []
    while sum(times) < BRIEF_MS:
        times.append(run(shape))
    return sum(times) / len(times)


def serve(version, run):
    """run(shape) takes the whole numbers behind "run WORK" and returns milliseconds."""
    kernels = loaded_kernels()
    print("ready", version + (", OpenBLAS " + kernels if kernels else ""), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "memory":
            answer = peak_megabytes()
        else:
            shape = tuple(int(word) for word in words[2:])
            answer = run(shape)
            if answer < BRIEF_MS:
                answer = mean_of_many(run, shape)
        print(f"{answer:.6f}", flush=True)
