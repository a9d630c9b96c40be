// SPDX-License-Identifier: MIT
//
// The rows whose objects are of one class each, by what a game is made of.
#pragma once

#include "savings/savings_row.h"

namespace replayout::bench {

[[nodiscard]] SavingsRow small_serializers();
[[nodiscard]] SavingsRow large_serializers();
[[nodiscard]] SavingsRow costly_serializers();
/// The data of the small serializers as quantised members.
[[nodiscard]] SavingsRow plain_members(double loss = 0);
[[nodiscard]] SavingsRow references();
[[nodiscard]] SavingsRow strings();
[[nodiscard]] SavingsRow arrays();
[[nodiscard]] SavingsRow keyed_arrays();
[[nodiscard]] SavingsRow fast_arrays();

}  // namespace replayout::bench
