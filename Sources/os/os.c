// The module map is all there is to this target; a target has to have a source.
#include "os.h"
