# SPDX-License-Identifier: MIT
"""What is mutated, and which test programs judge it: the files that read bytes of peers and of files,
or hold a limit. (Which of its tests, the mutator finds out: those in which a mutant makes a
difference.)"""

# Name, programs, files.
GROUPS = [
    ("decode", ("test_replayout", "test_netdriver", "test_replay"), """
        replayout/src/bits/bit_reader.cpp
        replayout/src/bits/change_mask.cpp
        replayout/src/layout/compatible_layout_builder.cpp
        replayout/src/receive/dynamic_array_reader.cpp
        replayout/src/receive/key_decoder.h
        replayout/include/replayout/elements_by_key.h
        replayout/src/receive/elements_by_key.cpp
        replayout/src/receive/keyed_array_reader.cpp
        replayout/src/receive/keyed_changes.cpp
        replayout/src/layout/layout_description.cpp
        replayout/src/values/native_value.h
        replayout/src/values/net_archive.cpp
        replayout/src/receive/old_values.cpp
        replayout/src/receive/present_elements.cpp
        replayout/src/receive/present_elements.h
        replayout/src/values/quantise.cpp
        replayout/src/receive/read_context.h
        replayout/src/receive/read_value.cpp
        replayout/src/receive/rebind_references.cpp
        replayout/src/receive/receive_properties.cpp
        replayout/src/receive/receiving_rep_state.cpp
        replayout/src/receive/call_parameters.cpp
        replayout/src/receive/struct_reader.cpp
        replayout/include/replayout/update_under_way.h
        replayout/include/replayout/waiting_updates.h
        replayout/src/bits/utf8.cpp
    """),
    ("messages", ("test_netdriver", "test_replay"), """
        netdriver/src/wire/bunch.cpp
        netdriver/src/wire/control_message.cpp
        netdriver/src/wire/open_message.cpp
        netdriver/src/delivery/incoming_calls.cpp
        netdriver/src/calls/call_runner.cpp
        netdriver/src/client/replication_client.cpp
        netdriver/src/client/layout_handshake.cpp
        netdriver/src/client/outgoing_calls.cpp
        netdriver/src/receiving/received_batch.cpp
        netdriver/src/receiving/client_channels.cpp
        netdriver/src/receiving/object_families.cpp
        netdriver/src/receiving/object_updates.cpp
        netdriver/src/receiving/received_amounts.cpp
        netdriver/src/receiving/received_calls.cpp
        netdriver/src/receiving/received_objects.cpp
        netdriver/src/receiving/replication_receiver.cpp
        netdriver/src/server/client_calls.cpp
        netdriver/src/server/admission.cpp
        netdriver/src/receiving/session_layouts.cpp
        netdriver/src/wire/stable_name.cpp
    """),
    ("acks", ("test_netdriver",), """
        netdriver/src/wire/packet_notify.cpp
    """),
    ("reassembly", ("test_netdriver",), """
        netdriver/src/delivery/reliable_receiver.cpp
        netdriver/src/delivery/reorder_buffer.cpp
        netdriver/src/delivery/reorder_buffer.h
    """),
    ("limits", ("test_netdriver", "test_replay"), """
        netdriver/src/link/call_limiter.h
        netdriver/src/link/close_log.cpp
        netdriver/src/clients/ended_sessions.h
        netdriver/src/containers/kept_room.h
        netdriver/src/wire/message_budget.h
        netdriver/src/wire/net_config.cpp
        netdriver/src/link/net_connection.cpp
        netdriver/src/driver/net_driver.cpp
        netdriver/src/driver/net_rates.cpp
        netdriver/src/link/peer_log.cpp
        netdriver/src/delivery/reliable_account.cpp
        netdriver/src/delivery/reliable_account.h
        netdriver/src/pairs/unmapped_values.cpp
        netdriver/src/pairs/waiting_values.cpp
    """),
    ("replays", ("test_replay",), """
        netdriver/src/replay/replay_format.cpp
        netdriver/src/playing/replay_file.cpp
        netdriver/src/playing/replay_player.cpp
    """),
    ("transports", ("test_transports",), """
        netdriver/transports/base/src/address_cookie.cpp
        netdriver/transports/base/src/address_handshake.cpp
        netdriver/transports/base/src/peer_slots.cpp
        netdriver/transports/base/src/peer_stay.h
        netdriver/transports/enet/src/enet_gate.cpp
        netdriver/transports/enet/src/enet_transport.cpp
        netdriver/transports/udp/src/datagram_socket.cpp
        netdriver/transports/udp/src/udp_transport.cpp
        netdriver/transports/websocket/src/websocket_transport.cpp
    """),
    ("behaviours", ("test_behaviours",), """
        netdriver/behaviours/src/behaviours/behaviour_section.cpp
        netdriver/behaviours/src/client/client_readiness.cpp
        netdriver/behaviours/src/client/network_client.cpp
        netdriver/behaviours/src/client/owner_updates.cpp
        netdriver/behaviours/src/client/spawn_sources.cpp
        netdriver/behaviours/src/client/spawned_objects.cpp
        netdriver/behaviours/src/client/waiting_changes.cpp
        netdriver/behaviours/src/behaviours/prefab_description.cpp
        netdriver/behaviours/src/behaviours/prefab_members.cpp
        netdriver/unet/src/network_reader.cpp
        netdriver/behaviours/src/server/owner_values.cpp
        netdriver/behaviours/src/server/state_sender.cpp
        netdriver/behaviours/include/replayout/behaviours/collection_end.h
        netdriver/behaviours/src/behaviours/collection_end.cpp
        netdriver/behaviours/src/sections/sync_section.cpp
        netdriver/unet/src/unet_messages.cpp
        netdriver/unet/src/unet_packet.cpp
    """),
]
GROUPS = [(name, programs, files.split()) for name, programs, files in GROUPS]

# Their numbers are limits, too: one more, and one less, must be noticed.
NUMBERS_ARE_LIMITS = ("netdriver/src/wire/net_config.cpp",)

# Tests that judge nothing of these files which no other does, and take long to build or to run.
LEFT_OUT = {
    "tests/replayout": """
        array_steps_promise changelist_\\w+ collection compatible_layout_random data_buffer dump
        equal_bytes handle keyed_array_loss left_out_values materialized_shadow net_serialize_purity
        net_shared_serialization object_replicator\\w* owed_versions previous_values push_model
        random_classes receive_updates_cost reference_replicator rep_layout(_dump|_fingerprint)?
        replication_\\w+ scan_plan send_\\w+ sending_\\w+ shadow_state shared_serialization
        steady_state struct_trait_effects taken_owed type_counters unreal_conformance bit_writer
    """,
    "tests/netdriver": """
        bandwidth\\w* block_misses bundle\\w+ calls_from_\\w+ conditional_arrays congestion_rate
        destroyed_parts_random dormancy_random dynamic_conditions executor fairness group_table
        idle_world initial_values interest\\w* left_out_values loopback_transport memory_report
        net_driver_conditions net_driver_loss packet_golden pair_validation priority push_model
        remote_functions_model secrecy send_order session simulated_network\\w*
        spawn_random starvation steady_ticks unreal_conformance\\w* update_\\w+ value_\\w+ warm_pool
        whole_game_random
    """,
    "tests/netdriver/replay": "",
    "tests/netdriver/behaviours": """
        dirty_bits host network_writer observers sharing spawn_random sync_collection_random
        sync_collection_sending unet_random
    """,
    "tests/transports": "",
}
LEFT_OUT = {folder: names.split() for folder, names in LEFT_OUT.items()}
