// SPDX-License-Identifier: MIT
//
// The rows of structs that write themselves, and of the same data as members.
#pragma once

#include "savings/savings_row.h"

namespace replayout::bench {

[[nodiscard]] SavingsRow small_serializers();
[[nodiscard]] SavingsRow large_serializers();
[[nodiscard]] SavingsRow costly_serializers();
/// The data of the small serializers as quantised members.
[[nodiscard]] SavingsRow plain_members(double loss = 0);

}  // namespace replayout::bench
