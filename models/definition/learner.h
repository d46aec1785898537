/* learner.h: the clustering transformer that the papers train [C26 section 4, P26 section 3; definition.h]: one layer
 * of four blocks of Euclidean softmax attention with scores -gamma ||q - k||^2 / sqrt(e) and learned projections. It is
 * run by re-embedding: in every step the centres are new tokens [c | code] and the points [x | 0]. (On its own output
 * tokens, mode "raw", a layer that was trained for one step diverges.) */
#ifndef TS_LEARNER_H
#define TS_LEARNER_H

#include "definition.h"

/* It has 12 (e^2 + e) parameters, e = d + s. */
ts_definition ts_learner(ts_construction construction, double gamma, double dropout);

#endif
