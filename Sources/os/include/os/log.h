#pragma once
#include "../OSOverlay.h"
