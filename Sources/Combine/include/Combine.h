#pragma once
#include "CombineOverlay.h"
