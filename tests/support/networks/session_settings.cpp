// SPDX-License-Identifier: MIT
#include "support/networks/session_settings.h"

#include <algorithm>
#include <sstream>

namespace replayout::test {

namespace {

[[nodiscard]] LinkSettings draw_link(SeededRandom& random) {
    LinkSettings link;
    constexpr double losses[] = {0, 0, 0.02, 0.05, 0.1, 0.2, 0.3};
    link.loss = random.pick(losses);
    link.burst_packets = random.percent(30) ? random.between(2, 12) : 0;
    link.duplicate = random.percent(50) ? random.below(30) / 100.0 : 0;
    link.reorder = random.percent(50) ? random.below(40) / 100.0 : 0;
    link.reorder_ms = random.between(20, 400);
    link.latency_ms = random.percent(70) ? random.below(150) : 0;
    link.jitter_ms = random.percent(50) ? random.below(80) : 0;
    if (random.percent(25)) {
        link.bandwidth_bytes_per_second = random.between(4'000, 100'000);
        link.queue_bytes = link.bandwidth_bytes_per_second * random.between(50, 1'500) / 1'000;
    }
    return link;
}

[[nodiscard]] NetConfig draw_net_config(SeededRandom& random) {
    NetConfig net;
    constexpr std::uint32_t packet_sizes[] = {256, 256, 300, 508, 1'200, 1'200, 1'400};
    net.packet_bytes_max = random.pick(packet_sizes);
    if (random.percent(20)) {
        net.packet_bytes_max = random.between(256, 1'400);
    }
    constexpr std::uint32_t datagrams[] = {24, 100, 16'384};
    net.datagrams_per_dispatch_max = random.pick(datagrams);
    net.keep_alive_ms = random.between(150, 900);
    net.probe_ms = random.between(20, 150);
    net.probe_max_ms = random.between(net.probe_ms, net.keep_alive_ms);
    net.timeout_ms = random.between(1'200, 3'000);
    net.linger_ms = random.between(100, 1'000);
    return net;
}

/// What a keyed array may take beside its elements: of each key that was removed.
constexpr std::uint32_t deletion_bytes_max = 256 * 10;

/// Limits as small as what honest peers send allows.
void tighten_limits(SessionSettings& settings) {
    settings.net.connections_max = settings.client_count;
    settings.net.channels_max = settings.live_max;
    settings.net.bunch_bytes_max =
        std::max(settings.edits.property_bytes_max, 1'200u) + deletion_bytes_max;
    settings.net.reliable_waiting_bytes_max = 256 * 1024;
    settings.types.limits.array_count_max = settings.edits.array_count_max;
    settings.types.limits.string_bytes_max = settings.edits.string_bytes_max;
}

void apply_theme(SessionTheme theme, SeededRandom& random, SessionSettings& settings) {
    switch (theme) {
        case SessionTheme::Any:
            break;
        case SessionTheme::LargeValues:
            settings.types.class_count = random.between(1, 3);
            settings.types.property_count_max = 12;
            settings.edits.array_count_max = random.between(100, 600);
            settings.edits.string_bytes_max = 6'000;
            settings.edits.property_bytes_max = random.between(3'000, 12'000);
            settings.edits.large_percent = random.between(5, 40);
            settings.live_max = random.between(2, 6);
            settings.tick_count = random.between(60, 120);
            break;
        case SessionTheme::ManyProperties:
            settings.types.class_count = random.between(1, 2);
            settings.types.property_count_max = random.between(200, 700);
            settings.types.depth_max = random.below(3);
            settings.types.keyed_percent = random.below(4);
            settings.edits_max = random.between(5, 60);
            settings.live_max = random.between(2, 4);
            settings.tick_count = random.between(50, 90);
            settings.client_count = random.between(1, 3);
            break;
        case SessionTheme::Churn:
            settings.live_max = random.between(3, 30);
            settings.types.property_count_max = random.between(1, 8);
            settings.spawn_percent = 90;
            settings.destroy_percent = random.between(30, 90);
            settings.brief_percent = random.between(20, 80);
            settings.leave_per_mille = random.between(5, 40);
            settings.hitch_per_mille = random.between(0, 20);
            break;
        case SessionTheme::Dormancy:
            settings.dormant_percent = random.between(10, 90);
            settings.edited_percent = random.between(2, 20);
            settings.destroy_percent = random.between(0, 10);
            break;
    }
}

[[nodiscard]] std::string to_string(const LinkSettings& link) {
    std::ostringstream text;
    text << "loss " << link.loss << " burst " << link.burst_packets << " duplicate "
         << link.duplicate << " reorder " << link.reorder << " in " << link.reorder_ms
         << " ms, latency " << link.latency_ms << " jitter " << link.jitter_ms << " bandwidth "
         << link.bandwidth_bytes_per_second << " queue " << link.queue_bytes;
    return text.str();
}

}  // namespace

SessionSettings SessionSettings::draw(SessionTheme theme, std::uint64_t seed) {
    SeededRandom random(seed * 1'000 + static_cast<std::uint64_t>(theme));
    SessionSettings settings;
    settings.seed = seed;
    settings.tick_count = random.between(80, 220);
    settings.client_count = random.between(1, 6);
    settings.is_sharing = random.percent(50);
    settings.types.class_count = random.between(1, 4);
    constexpr std::uint32_t property_counts[] = {2, 6, 15, 40};
    settings.types.property_count_max = random.pick(property_counts);
    constexpr std::uint32_t push_percents[] = {0, 0, 30, 100};
    settings.types.push_based_percent = random.pick(push_percents);
    constexpr std::uint32_t keyed_percents[] = {0, 10, 40};
    settings.types.keyed_percent = random.pick(keyed_percents);
    settings.edits.large_percent = random.percent(30) ? random.between(1, 10) : 0;
    settings.edits.array_count_max = random.between(3, 80);
    settings.net = draw_net_config(random);
    settings.to_client = draw_link(random);
    settings.to_server = random.percent(50) ? settings.to_client : draw_link(random);
    settings.live_max = random.between(1, 12);
    settings.spawn_percent = random.between(2, 60);
    settings.destroy_percent = random.between(0, 30);
    settings.edited_percent = random.between(5, 80);
    settings.revert_percent = random.percent(50) ? random.between(0, 80) : 0;
    settings.leave_per_mille = random.percent(60) ? random.between(1, 15) : 0;
    settings.hitch_per_mille = random.percent(40) ? random.between(1, 20) : 0;
    apply_theme(theme, random, settings);
    settings.role_percent = random.percent(50) ? random.between(1, 60) : 0;
    tighten_limits(settings);
    return settings;
}

std::string to_string(const SessionSettings& settings) {
    std::ostringstream text;
    text << settings.client_count << " clients, " << settings.tick_count << " ticks, sharing "
         << (settings.is_sharing ? "on" : "off") << ", " << settings.types.class_count
         << " classes of up to " << settings.types.property_count_max << " properties, of which "
         << settings.types.push_based_percent << " % are push based and "
         << settings.types.keyed_percent << " % keyed, " << settings.live_max
         << " objects, packets of " << settings.net.packet_bytes_max << " bytes, dormancy "
         << settings.dormant_percent << " %, roles " << settings.role_percent
         << " %; to clients: " << to_string(settings.to_client)
         << "; to the server: " << to_string(settings.to_server);
    return text.str();
}

}  // namespace replayout::test
