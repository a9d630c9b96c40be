// SPDX-License-Identifier: MIT
//
// A hostile server: a client in the middle of a session is sent whatever there is, and then what
// was recorded. It ends the connection once at most, keeps within its memory, gives all of it back,
// and a block that is refused has changed nothing. The input: hostile_end.h.
#include "fuzz/hostile_end.h"

std::vector<replayout::Bytes> replayout::test::fuzz_seeds() {
    return HostileEnd::seeds(PlayedEnd::Side::Client);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    HostileEnd end(PlayedEnd::Side::Client, input);
    end.run(input);
    return 0;
}
