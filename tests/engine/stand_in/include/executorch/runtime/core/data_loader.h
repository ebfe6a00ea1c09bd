#pragma once
#include "executorch/stand_in.h"
