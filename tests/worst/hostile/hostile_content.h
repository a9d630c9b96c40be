// SPDX-License-Identifier: MIT
//
// What a hostile peer of either side sends: calls, parts of calls that never end, control messages
// and junk. hostile_client.h has the meaning of the numbers.
#pragma once

#include <cstdint>

#include "worst/hostile/hostile_line.h"

namespace replayout::worst {

/// The hello of a client of ours with these classes.
[[nodiscard]] const bench::Bytes& hello_of_classes();
/// As many calls as the datagram holds, at most as many as the step says. `channel_count`: those
/// that there are, from 1 on.
void add_calls(HostileLine& line, const Step& step, std::uint32_t channel_count);
void add_part(HostileLine& line, const Step& step, std::uint32_t channel_count);
void add_control(HostileLine& line, const Step& step);
void send_junk(HostileLine& line, const Step& step);

}  // namespace replayout::worst
