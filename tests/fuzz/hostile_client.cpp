// SPDX-License-Identifier: MIT
//
// A hostile client: a server in the middle of a session is sent whatever there is, and then what
// was recorded. It ends the connection once at most, keeps within its memory, gives all of it back,
// and its world stays as it was. The input: hostile_end.h.
#include "fuzz/hostile_end.h"

std::vector<replayout::Bytes> replayout::test::fuzz_seeds() {
    return HostileEnd::seeds(PlayedEnd::Side::Server);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    HostileEnd end(PlayedEnd::Side::Server, input);
    end.run(input);
    return 0;
}
