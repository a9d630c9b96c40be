# SPDX-License-Identifier: MIT
"""What is mutated, and which test programs judge it: the files that read bytes of peers and of files,
or hold a limit. (Which of its tests, the mutator finds out: those in which a mutant makes a
difference.)"""

# Name, programs, files.
GROUPS = [
    ("decode", ("test_replayout", "test_netdriver", "test_replay"), """
        replayout/src/bit_reader.cpp
        replayout/src/change_mask.cpp
        replayout/src/compatible_layout_builder.cpp
        replayout/src/delta_reader.cpp
        replayout/src/keyed_array_reader.cpp
        replayout/src/layout_description.cpp
        replayout/src/native_value.h
        replayout/src/net_archive.cpp
        replayout/src/property_reader.cpp
        replayout/src/quantise.cpp
        replayout/src/rebind_references.cpp
        replayout/src/receive_properties.cpp
        replayout/src/receive_scratch.cpp
        replayout/src/receiving_rep_state.cpp
        replayout/src/rpc_parameters.cpp
        replayout/src/struct_reader.cpp
        replayout/src/utf8.cpp
    """),
    ("messages", ("test_netdriver", "test_replay"), """
        netdriver/src/bunch.cpp
        netdriver/src/control_message.cpp
        netdriver/src/open_message.cpp
        netdriver/src/remote_function_receiver.cpp
        netdriver/src/remote_function_runner.cpp
        netdriver/src/replication_client.cpp
        netdriver/src/replication_client_calls.cpp
        netdriver/src/replication_client_playing.cpp
        netdriver/src/replication_receiver.cpp
        netdriver/src/replication_receiver_blocks.cpp
        netdriver/src/replication_receiver_calls.cpp
        netdriver/src/replication_receiver_closes.cpp
        netdriver/src/replication_receiver_messages.cpp
        netdriver/src/replication_receiver_playing.cpp
        netdriver/src/replication_receiver_references.cpp
        netdriver/src/replication_server_calls.cpp
        netdriver/src/replication_server_hello.cpp
        netdriver/src/session_layouts.cpp
        netdriver/src/stable_name.cpp
    """),
    ("acks", ("test_netdriver",), """
        netdriver/src/packet_notify.cpp
    """),
    ("reassembly", ("test_netdriver",), """
        netdriver/src/reliable_receiver.cpp
        netdriver/src/reorder_buffer.cpp
        netdriver/src/reorder_buffer.h
    """),
    ("limits", ("test_netdriver", "test_replay"), """
        netdriver/src/call_limiter.h
        netdriver/src/close_log.cpp
        netdriver/src/ended_sessions.h
        netdriver/src/kept_room.h
        netdriver/src/message_budget.h
        netdriver/src/net_config.cpp
        netdriver/src/net_connection.cpp
        netdriver/src/net_driver.cpp
        netdriver/src/net_rates.cpp
        netdriver/src/peer_log.cpp
        netdriver/src/reliable_account.cpp
        netdriver/src/reliable_account.h
        netdriver/src/unmapped_values.cpp
        netdriver/src/waiting_values.cpp
    """),
    ("replays", ("test_replay",), """
        netdriver/src/replay_format.cpp
        netdriver/src/replay_player.cpp
        netdriver/src/replay_player_file.cpp
    """),
    ("transports", ("test_transports",), """
        netdriver/transports/base/src/address_cookie.cpp
        netdriver/transports/base/src/address_handshake.cpp
        netdriver/transports/base/src/address_places.cpp
        netdriver/transports/base/src/peer_stay.h
        netdriver/transports/enet/src/enet_gate.cpp
        netdriver/transports/enet/src/enet_transport.cpp
        netdriver/transports/udp/src/udp_transport.cpp
        netdriver/transports/websocket/src/websocket_transport.cpp
    """),
    ("syncvar", ("test_syncvar",), """
        netdriver/syncvar/src/behaviour_section.cpp
        netdriver/syncvar/src/network_client.cpp
        netdriver/syncvar/src/network_client_sections.cpp
        netdriver/syncvar/src/network_client_waiting.cpp
        netdriver/syncvar/src/network_prefab_calls.cpp
        netdriver/unet/src/network_reader.cpp
        netdriver/syncvar/src/network_server_calls.cpp
        netdriver/syncvar/src/sync_collection.cpp
        netdriver/syncvar/src/sync_section.cpp
        netdriver/unet/src/unet_messages.cpp
        netdriver/unet/src/unet_packet.cpp
    """),
]
GROUPS = [(name, programs, files.split()) for name, programs, files in GROUPS]

# Their numbers are limits, too: one more, and one less, must be noticed.
NUMBERS_ARE_LIMITS = ("netdriver/src/net_config.cpp",)

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
    "tests/netdriver/syncvar": """
        dirty_bits host network_writer observers sharing spawn_random sync_collection_random
        sync_collection_sending unet_random
    """,
    "tests/transports": "",
}
LEFT_OUT = {folder: names.split() for folder, names in LEFT_OUT.items()}
