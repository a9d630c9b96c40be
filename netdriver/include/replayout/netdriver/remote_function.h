// SPDX-License-Identifier: MIT
//
// Deprecated, include replayout/netdriver/calls.h.
#pragma once

#include <replayout/netdriver/calls.h>
