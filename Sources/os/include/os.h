#pragma once
#include "OSOverlay.h"
#include "os/lock.h"
#include "os/log.h"
#include "os/signpost.h"
