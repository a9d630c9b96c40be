// SPDX-License-Identifier: MIT
#include "worst/hostile/hostile_server.h"

#include <algorithm>

#include "worst/hostile/hostile_content.h"

namespace replayout::worst {

namespace {

constexpr std::uint32_t channels_max = 4'096;
constexpr std::int64_t datagrams_max = 2'000;

[[nodiscard]] Shape shape_of(const Step& step) {
    return {step.numbers[2], step.numbers[3], step.numbers[4], step.numbers[5], step.numbers[4]};
}

}  // namespace

HostileServer::HostileServer(std::uint32_t marked)
    : end_(client_peer, costs_, marked), line_(end_, server_peer), datagrams_left_(datagrams_max) {}

bool HostileServer::begin() {
    if (!Classes::get().add_to(end_.driver()) || !end_.driver().connect(server_peer, end_.now())) {
        return false;
    }
    (void)end_.take_sent(server_peer);  // the line is there before anything is sent on it
    end_.flush();
    for (const Bytes& hello : end_.take_sent(server_peer)) {
        line_.begin_session_of(hello);
    }
    (void)line_.add(bench::message_bunch(0, line_.next_sequence(0, false, 0), Bytes{std::byte{2}}));
    line_.send();
    return true;
}

Costs HostileServer::play(const Steps& steps) {
    if (!begin()) {
        return costs_;
    }
    costs_ = {};
    for (const Step& step : steps) {
        if (datagrams_left_ <= 0) {
            break;
        }
        play_step(step);
        if (held_steps_ > 0 && --held_steps_ == 0) {
            end_.release();
            line_.hear();
        }
        costs_.note(Score::Memory, static_cast<std::uint64_t>(end_.bytes_in_use()), end_.place());
    }
    end_.release();
    return costs_;
}

void HostileServer::play_step(const Step& step) {
    switch (step.kind) {
        case StepKind::Open:
            open(step);
            break;
        case StepKind::Close:
            close(step);
            break;
        case StepKind::Blocks:
            send_blocks(step);
            break;
        case StepKind::Values:
            send_values(step);
            break;
        case StepKind::Message:
            send_message(step);
            break;
        case StepKind::Control:
            add_control(line_, step);
            send_unless_joined(step.numbers[3]);
            break;
        case StepKind::Acks:
            line_.acknowledge(step);
            send_unless_joined(step.numbers[4]);
            break;
        case StepKind::Calls:
            add_calls(line_, step, channels_max);
            send_unless_joined(step.numbers[5]);
            break;
        case StepKind::Part:
            add_part(line_, step, channels_max);
            send_unless_joined(step.numbers[2]);
            break;
        case StepKind::Junk:
            send_junk(line_, step);
            break;
        case StepKind::Flip:
            line_.flip(step);
            break;
        case StepKind::Hold:
            end_.hold();
            held_steps_ = step.numbers[0] % 16 + 1;
            break;
        default:
            wait(step.numbers[0] % 9'000);
            break;
    }
}

void HostileServer::send_unless_joined(std::uint32_t how) {
    if ((how & 1) == 0) {
        line_.send();
    }
}

void HostileServer::add(const bench::Bytes& bunch) {
    if (line_.add(bunch)) {
        return;
    }
    --datagrams_left_;
    line_.send();
    (void)line_.add(bunch);
}

void HostileServer::open(const Step& step) {
    const std::uint32_t facts = step.numbers[3];
    const auto number = static_cast<ClassNumber>(step.numbers[1] % class_count);
    for (std::uint32_t i = 0; i < std::min(step.numbers[0], channels_max); ++i) {
        const std::uint32_t channel = (step.numbers[2] + i) % channels_max + 1;
        const std::uint64_t id =
            (step.numbers[4] & 1) == 0 ? channel + step.numbers[4] : ++last_id_;
        BunchHeader header;
        header.channel = ChannelIndex{channel};
        header.is_open = true;
        header.sequence = line_.next_sequence(channel, false, 0);
        classes_[channel] = number;
        add(bench::bunch(
            header, bench::written([&](BitWriter& writer) {
                writer.write_packed_uint(id);
                writer.write_packed_uint(static_cast<std::uint64_t>(number));
                const bool is_part = (facts & 2) != 0;
                const bool has_name = (facts & 4) != 0;
                const bool has_place = (facts & 8) != 0;
                writer.write_packed_uint((facts & 1) | (is_part ? 1u << 9 : 0) |
                                         (has_name ? 1u << 4 : 0) | (has_place ? 1u << 5 : 0));
                if (is_part) {
                    writer.write_packed_uint((facts & 16) != 0 && i > 0 ? id - 1 : facts / 32 + 1);
                }
                if (has_name) {
                    bench::write_text(writer, facts % 90 + 1);
                }
                for (int axis = 0; has_place && axis < 3; ++axis) {
                    writer.write_bits(0, 32);
                }
            })));
    }
    line_.send();
}

void HostileServer::close(const Step& step) {
    for (std::uint32_t i = 0; i < std::min(step.numbers[0], channels_max); ++i) {
        const std::uint32_t channel = (step.numbers[1] + i) % channels_max + 1;
        BunchHeader header;
        header.channel = ChannelIndex{channel};
        header.is_close = true;
        header.sequence = line_.next_sequence(channel, false, 0);
        add(bench::bunch(header, Bytes{static_cast<std::byte>(step.numbers[2] % 6)}));
        line_.end_channel(channel);
    }
    line_.send();
}

Bytes HostileServer::block_of(std::uint32_t channel, const Step& step) const {
    const auto found = classes_.find(channel);
    return block_bytes(found == classes_.end() ? ClassNumber::Body : found->second, shape_of(step));
}

void HostileServer::send_blocks(const Step& step) {
    const bool more_follow = (step.numbers[0] & 0x1'0000) != 0;
    for (std::uint32_t i = 0; i < step.numbers[0] % 600 + 1; ++i) {
        const std::uint32_t channel = (step.numbers[1] + i) % channels_max + 1;
        const Bytes block = block_of(channel, step);
        Bytes bytes = bench::written([&](BitWriter& writer) {
            writer.write_packed_uint(1);
            writer.write_packed_uint(channel);
            writer.write_packed_uint(block.size() << 1 | (more_follow ? 1u : 0u));
        });
        bench::append(bytes, block);
        if (!line_.add_block(bytes)) {
            break;
        }
    }
    line_.send();
}

void HostileServer::send_values(const Step& step) {
    constexpr std::size_t part_bytes = fragment_bytes(packet_bytes);
    for (std::uint32_t i = 0; i < step.numbers[0] % 600 + 1 && datagrams_left_ > 0; ++i) {
        const std::uint32_t channel = (step.numbers[1] + i) % channels_max + 1;
        const Bytes block = block_of(channel, step);
        for (std::size_t begin = 0; begin < block.size(); begin += part_bytes) {
            const std::size_t size = std::min(part_bytes, block.size() - begin);
            BunchHeader header;
            header.channel = ChannelIndex{channel};
            header.sequence = line_.next_sequence(channel, false, 0);
            header.is_partial = block.size() > part_bytes;
            header.is_partial_initial = header.is_partial && begin == 0;
            header.is_partial_final = header.is_partial && begin + size == block.size();
            const auto first = block.begin() + static_cast<std::ptrdiff_t>(begin);
            add(bench::bunch(header, Bytes(first, first + static_cast<std::ptrdiff_t>(size))));
        }
    }
    line_.send();
}

void HostileServer::send_message(const Step& step) {
    const std::uint32_t channel = step.numbers[1] % channels_max + 1;
    for (std::uint32_t i = 0; i < step.numbers[0] % 512 + 1; ++i) {
        BunchHeader header;
        header.channel = ChannelIndex{channel};
        header.is_message = true;
        header.sequence = line_.next_sequence(channel, false, 0);
        const bool is_role = step.numbers[2] % 2 == 0;
        const bench::Bytes bunch = bench::bunch(header, bench::written([&](BitWriter& writer) {
                                                    writer.write_bits(is_role ? 1 : 2, 8);
                                                    if (is_role) {
                                                        writer.write_packed_uint(i % 2);
                                                        return;
                                                    }
                                                    bench::write_text(writer, step.numbers[3] % 97);
                                                }));
        if (!line_.add(bunch)) {
            break;
        }
    }
    line_.send();
}

void HostileServer::wait(std::uint32_t milliseconds) {
    end_.wait(milliseconds);
    end_.flush();
    line_.hear();
    line_.acknowledge_all();
}

}  // namespace replayout::worst
