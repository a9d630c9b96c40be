// SPDX-License-Identifier: MIT
//
// Deprecated, include replayout/netdriver/call_arguments.h.
#pragma once

#include <replayout/netdriver/call_arguments.h>
