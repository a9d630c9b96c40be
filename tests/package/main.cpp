// SPDX-License-Identifier: MIT
//
// A stranger's program: it sees the installed headers and links the installed archives.
#include <replayout/net_guid.h>
#include <replayout/reflection/config.h>
#include <replayout/reflection/hash.h>
#if STRANGER_HAS_BEHAVIOURS
#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/call_params.h>
#include <replayout/netdriver/remote_function.h>
#include <replayout/rpc_parameters.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/network_writer.h>
#include <replayout/unet/network_writer.h>

#include <type_traits>
#endif
#if STRANGER_HAS_ENET
#include <replayout/transports/enet_transport.h>
#endif
#if STRANGER_HAS_UDP
#include <replayout/transports/udp_transport.h>
#endif
#if STRANGER_HAS_WEBSOCKET
#include <replayout/transports/websocket_transport.h>
#endif

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

int main() {
    const replayout::NetGUID guid{replayout::hash64(std::string_view("stranger"))};
    std::printf("replayout %d.%d.%d\n", REPLAYOUT_VERSION_MAJOR, REPLAYOUT_VERSION_MINOR,
                REPLAYOUT_VERSION_PATCH);
#if STRANGER_HAS_BEHAVIOURS
    static_assert(std::is_same_v<replayout::syncvar::NetworkServer, replayout::NetworkServer>);
    static_assert(std::is_same_v<replayout::syncvar::NetworkWriter, replayout::NetworkWriter>);
    static_assert(std::is_same_v<replayout::CallParams, replayout::CallArguments>);
    static_assert(std::is_same_v<replayout::RemoteFunctionCall, replayout::CurrentCall>);
    static_assert(std::is_same_v<replayout::RpcParameters, replayout::CallParameters>);
    std::array<std::byte, 8> memory{};
    replayout::NetworkWriter writer(memory);
    writer.write_packed_uint32(23487);
    if (writer.byte_count() != 3) {
        return 1;
    }
#endif
#if STRANGER_HAS_UDP
    if (!replayout::UdpTransport::listen("127.0.0.1:0")) {
        return 1;
    }
#endif
#if STRANGER_HAS_ENET
    if (!replayout::EnetTransport::listen("127.0.0.1:0")) {
        return 1;
    }
#endif
#if STRANGER_HAS_WEBSOCKET
    if (!replayout::WebSocketTransport::listen("127.0.0.1:0")) {
        return 1;
    }
#endif
    return guid.is_null() ? 1 : 0;
}
