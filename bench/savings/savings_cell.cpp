// SPDX-License-Identifier: MIT
#include "savings/savings_cell.h"

#include "savings/warm_server.h"
#include "support/replicators/packet_buffers.h"
#include "support/report/percentile.h"
#include "support/stop_watch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace replayout::bench {

namespace {

using Subject = SavingsSubject;

constexpr std::size_t tick_bytes_max = 1'024 * PacketBuffers::packet_bytes_max;

constexpr std::array<std::string_view, savings_subject_count> names = {
    "off",    "pieces",     "payloads",    "bundles",    "one + copies",
    "memcpy", "naive poll", "naive dirty", "shared once"};

/// Copies packets as they were sent, one connection after another.
class PacketCopies {
  public:
    explicit PacketCopies(std::uint32_t connections)
        : buffers_(std::max(connections, 1u)), source_(bytes_to_copy(tick_bytes_max)) {}

    /// The packets of a tick, each to its own connection. Returns seconds.
    double copy(std::span<const ScriptedClients::Packet> packets) {
        const StopWatch watch;
        for (const ScriptedClients::Packet& packet : packets) {
            copy_one(packet.client, packet.bytes);
        }
        return watch.seconds();
    }
    /// Those of one connection, to each other one.
    double copy_to_others(std::span<const ScriptedClients::Packet> packets) {
        const StopWatch watch;
        for (std::uint32_t i = 1; i < buffers_.connection_count(); ++i) {
            for (const ScriptedClients::Packet& packet : packets) {
                copy_one(i, packet.bytes);
            }
        }
        return watch.seconds();
    }

  private:
    void copy_one(std::uint32_t connection, std::uint32_t bytes) {
        buffers_.copy(connection, source_, {&bytes, 1}, [](std::span<const std::byte> packet) {
            // As if somebody read the packet, so that the compiler leaves out no copy.
            asm volatile("" : : "r"(packet.data()) : "memory");
        });
    }

    PacketBuffers buffers_;
    std::vector<std::byte> source_;
};

class Cell {
  public:
    Cell(const SavingsRow& row, const SavingsCellSettings& settings)
        : row_(row), settings_(settings), copies_(settings.connections) {
        cell_.connections = settings.connections;
    }

    [[nodiscard]] SavingsCell measure() {
        if (row_.is_join) {
            measure_joins();
        } else {
            measure_ticks();
        }
        return std::move(cell_);
    }

  private:
    [[nodiscard]] std::vector<Subject> levels() const {
        return settings_.has_middle_levels
                   ? std::vector{Subject::Off, Subject::Pieces, Subject::Payloads, Subject::Bundles}
                   : std::vector{Subject::Off, Subject::Bundles};
    }
    [[nodiscard]] static SharingLevel level_of(Subject subject) noexcept {
        return static_cast<SharingLevel>(subject);
    }
    void add(Subject subject, double seconds) {
        samples_[static_cast<std::size_t>(subject)].push_back(seconds * 1e9);
    }
    void finish_times() {
        for (std::size_t i = 0; i < savings_subject_count; ++i) {
            std::vector<double>& samples = samples_[i];
            cell_.times[i] = {percentile(samples, 50), percentile(samples, 10),
                              percentile(samples, 90)};
        }
    }
    /// Sharing never changes a byte. Packets are compared in the untimed ticks, until the server is
    /// warm. In the timed ones only their bytes are counted.
    void compare(const RunningServer& server, std::uint64_t bytes) {
        if (bytes_.has_value() && *bytes_ != bytes) {
            cell_.error = "the levels of sharing did not send as many bytes";
        }
        if (digest_.has_value() && *digest_ != server.digest()) {
            cell_.error = "the levels of sharing did not send the same packets";
        }
        bytes_ = bytes;
        digest_ = server.digest();
    }

    void measure_joins();
    void measure_ticks();
    [[nodiscard]] bool warm_up(WarmServer& server);
    void take_turn(std::uint32_t ticks);
    void end_ticks(std::uint32_t ticks);

    const SavingsRow& row_;
    SavingsCellSettings settings_;
    SavingsCell cell_;
    PacketCopies copies_;
    std::array<std::vector<double>, savings_subject_count> samples_;
    std::optional<std::uint64_t> bytes_;
    std::optional<std::uint64_t> digest_;
    std::uint64_t bytes_before_ = 0;
    std::vector<std::unique_ptr<WarmServer>> servers_;  // of levels()
    std::unique_ptr<WarmServer> one_;
    std::vector<std::unique_ptr<HandWritten>> by_hand_;  // of hand_kinds, or none
};

constexpr std::array hand_kinds = {std::pair{HandWrittenKind::NaivePoll, Subject::NaivePoll},
                                   std::pair{HandWrittenKind::NaiveDirty, Subject::NaiveDirty},
                                   std::pair{HandWrittenKind::SharedOnce, Subject::SharedOnce}};

void Cell::measure_joins() {
    // In the first round packets are compared, which takes time.
    for (std::uint32_t round = 0; round <= settings_.joins; ++round) {
        bytes_.reset();
        digest_.reset();
        for (const Subject subject : levels()) {
            WarmServer server(row_, settings_.connections, level_of(subject));
            if (server.is_good()) {
                const std::uint64_t before = server.server().stats().bytes_sent;
                server.set_digesting(round == 0);
                const double seconds = server.join();
                if (round > 0) {
                    add(subject, seconds);
                }
                compare(server.server(), server.server().stats().bytes_sent - before);
            }
            if (!server.is_good()) {
                cell_.error = server.error();
                return;
            }
        }
    }
    cell_.bytes_per_connection = static_cast<double>(*bytes_) / settings_.connections;
    finish_times();
}

bool Cell::warm_up(WarmServer& server) {
    if (server.is_good()) {
        (void)server.join();
    }
    if (server.is_good()) {
        server.warm_up();
    }
    cell_.error = server.error();
    return cell_.error.empty();
}

void Cell::measure_ticks() {
    for (const Subject subject : levels()) {
        servers_.push_back(
            std::make_unique<WarmServer>(row_, settings_.connections, level_of(subject)));
        if (!warm_up(*servers_.back())) {
            return;
        }
    }
    one_ = std::make_unique<WarmServer>(row_, 1, SharingLevel::Bundles);
    if (!warm_up(*one_)) {
        return;
    }
    for (const auto& [kind, subject] : hand_kinds) {
        if (row_.make_hand_written) {
            by_hand_.push_back(row_.make_hand_written(kind, settings_.connections));
            (void)by_hand_.back()->tick();  // the first one is larger than all others
        }
    }
    bytes_before_ = servers_.back()->server().stats().bytes_sent;
    const std::uint32_t ticks = std::min(settings_.ticks, one_->ticks_left());
    for (std::uint32_t i = 0; i < ticks; i += settings_.turn) {
        take_turn(std::min(settings_.turn, ticks - i));
    }
    end_ticks(ticks);
}

void Cell::take_turn(std::uint32_t ticks) {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        const Subject subject = levels()[i];
        for (std::uint32_t tick = 0; tick < ticks; ++tick) {
            add(subject, servers_[i]->tick());
            if (subject == Subject::Bundles) {
                add(Subject::Memcpy, copies_.copy(servers_[i]->server().packets()));
            }
        }
    }
    for (std::uint32_t tick = 0; tick < ticks; ++tick) {
        const double seconds = one_->tick();
        add(Subject::OneAndCopies, seconds + copies_.copy_to_others(one_->server().packets()));
    }
    for (std::size_t i = 0; i < by_hand_.size(); ++i) {
        for (std::uint32_t tick = 0; tick < ticks; ++tick) {
            add(hand_kinds[i].second, by_hand_[i]->tick());
        }
    }
}

void Cell::end_ticks(std::uint32_t ticks) {
    for (const auto& server : servers_) {
        if (cell_.error.empty()) {
            cell_.error = server->error();
        }
        compare(server->server(), server->server().stats().bytes_sent);
    }
    const std::uint64_t records = std::uint64_t{ticks} * settings_.connections;
    for (const auto& hand : by_hand_) {
        if (hand->records_sent() < records && cell_.error.empty()) {
            cell_.error = "what is written by hand did not send what changed";
        }
    }
    const auto bytes = static_cast<double>(*bytes_ - bytes_before_);
    cell_.bytes_per_connection = bytes / (static_cast<double>(ticks) * settings_.connections);
    finish_times();
}

}  // namespace

std::string_view to_string(SavingsSubject subject) noexcept {
    return names[static_cast<std::size_t>(subject)];
}

SavingsCell measure_cell(const SavingsRow& row, const SavingsCellSettings& settings) {
    return Cell(row, settings).measure();
}

}  // namespace replayout::bench
