// SPDX-License-Identifier: MIT
//
// A stranger's program: it sees the installed headers and links the installed archives.
#include <replayout/net_guid.h>
#include <replayout/reflection/config.h>
#include <replayout/reflection/hash.h>

#include <cstdio>
#include <string_view>

int main() {
    const replayout::NetGUID guid{replayout::hash64(std::string_view("stranger"))};
    std::printf("replayout %d.%d.%d\n", REPLAYOUT_VERSION_MAJOR, REPLAYOUT_VERSION_MINOR,
                REPLAYOUT_VERSION_PATCH);
    return guid.is_null() ? 1 : 0;
}
