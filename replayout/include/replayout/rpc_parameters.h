// SPDX-License-Identifier: MIT
//
// Deprecated, include replayout/call_parameters.h.
#pragma once

#include <replayout/call_parameters.h>
