// SPDX-License-Identifier: MIT
#include "worst/hostile/hostile_client.h"

#include <algorithm>

#include "worst/hostile/hostile_content.h"

namespace replayout::worst {

namespace {

/// What one list of steps may take of a game: changes of objects, a quarter of one for each that is
/// added, and for each tick a sixteenth for each that there is.
constexpr std::int64_t work_max = 80'000;
constexpr std::uint32_t objects_max = 60'000;

}  // namespace

HostileClient::HostileClient(std::uint32_t marked)
    : end_(server_peer, costs_, marked), line_(end_, client_peer), work_left_(work_max) {}

Costs HostileClient::play(const Steps& steps) {
    if (!Classes::get().add_to(end_.driver()) || !end_.driver().listen()) {
        return costs_;
    }
    began_ = end_.now();
    for (const Step& step : steps) {
        play_step(step);
        if (held_steps_ > 0 && --held_steps_ == 0) {
            end_.release();
            line_.hear();
        }
        note_kept();
    }
    end_.release();
    line_.hear();
    note_kept();
    return costs_;
}

void HostileClient::play_step(const Step& step) {
    const auto& numbers = step.numbers;
    switch (step.kind) {
        case StepKind::Add:
            add(step);
            break;
        case StepKind::Remove:
            remove(step);
            break;
        case StepKind::Play:
            play_game(step);
            break;
        case StepKind::Neighbour:
            join_neighbours(numbers[0] % 4);
            break;
        case StepKind::Hello:
            say_hello(line_, static_cast<std::uint16_t>(numbers[0]), numbers[1]);
            break;
        case StepKind::Acks:
            line_.acknowledge(step);
            send_unless_joined(numbers[4]);
            break;
        case StepKind::Calls:
            add_calls(line_, step, std::max<std::uint32_t>(object_count(), 1));
            send_unless_joined(numbers[5]);
            break;
        case StepKind::Part:
            add_part(line_, step, std::max<std::uint32_t>(object_count(), 1));
            send_unless_joined(numbers[2]);
            break;
        case StepKind::Control:
            add_control(line_, step);
            send_unless_joined(numbers[3]);
            break;
        case StepKind::Junk:
            send_junk(line_, step);
            break;
        case StepKind::Flip:
            line_.flip(step);
            break;
        case StepKind::Hold:
            end_.hold();
            held_steps_ = numbers[0] % 16 + 1;
            break;
        default:
            end_.wait(numbers[0] % 20'000);
            break;
    }
}

void HostileClient::add(const Step& step) {
    const auto number = static_cast<ClassNumber>(step.numbers[1] % class_count);
    const RepLayout& layout = Classes::get().layout(number);
    has_rare_ = has_rare_ || number == ClassNumber::Quarry || number == ClassNumber::Slot ||
                number == ClassNumber::Trail || number == ClassNumber::Links;
    for (std::uint32_t i = 0; i < step.numbers[0] && added_.size() < objects_max; ++i) {
        work_left_ -= i % 4 == 0 ? 1 : 0;
        if (work_left_ <= 0) {
            return;
        }
        Added& added = added_.emplace_back();
        most_objects_ = std::max(most_objects_, added_.size());
        added.object = end_.world().add(number);
        added.has_functions = number == ClassNumber::Body;
        added.id = end_.driver().add_object(layout, added.object);
        if (step.numbers[2] % 2 == 1) {
            end_.driver().set_owner(added.id, client_peer);
        }
    }
}

void HostileClient::remove(const Step& step) {
    for (std::uint32_t i = 0; i < step.numbers[0] && !added_.empty(); ++i) {
        const auto place =
            added_.begin() + static_cast<std::ptrdiff_t>(step.numbers[1] % added_.size());
        end_.driver().remove_object(place->id);
        end_.world().remove(place->object);
        *place = added_.back();
        added_.pop_back();
    }
}

void HostileClient::change_objects(const Step& step, std::uint32_t turn) {
    const std::uint32_t what = step.numbers[2] % 16;
    const std::uint32_t every = step.numbers[3] % 8 + 1;
    if (what == 0) {
        return;
    }
    for (std::size_t i = turn % every; i < added_.size() && work_left_ > 0; i += every) {
        end_.world().change(added_[i].object, what, turn);
        --work_left_;
    }
    const std::uint32_t calls = std::min<std::uint32_t>(step.numbers[5] % 64, 64);
    for (std::uint32_t i = 0; i < calls && i < added_.size(); ++i) {
        if (added_[i].has_functions) {
            (void)end_.driver().call_function(added_[i].id, i % 2 == 0 ? "confirm" : "ping");
        }
    }
}

void HostileClient::tick(std::uint32_t milliseconds) {
    end_.wait(milliseconds);
    end_.flush();
    line_.hear();
    for (const auto& neighbour : neighbours_) {
        neighbour->line.hear();
        neighbour->line.acknowledge_all();
        neighbour->line.send();
    }
}

void HostileClient::play_game(const Step& step) {
    const std::uint32_t ticks = step.numbers[0] % 256 + 1;
    for (std::uint32_t i = 0; i < ticks && work_left_ > 0; ++i) {
        work_left_ -= 1 + object_count() / 16;
        change_objects(step, turn_++);
        tick(step.numbers[1] % 256);
        switch (step.numbers[4] % 4) {
            case 0:
                break;
            case 1:
                line_.acknowledge_all();
                line_.send();
                break;
            default:
                line_.acknowledge({StepKind::Acks, {0, step.numbers[4], 0, turn_, 0, 0}});
                line_.send();
                break;
        }
    }
}

void HostileClient::join_neighbours(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count && neighbours_.size() < 4; ++i) {
        const PeerId peer{client_peer.value + 1 + neighbours_.size()};
        neighbours_.push_back(
            std::make_unique<Neighbour>(Neighbour{peer, HostileLine(end_, peer)}));
        say_hello(neighbours_.back()->line, 1, 0);
    }
}

void HostileClient::say_hello(HostileLine& line, std::uint16_t session, std::uint32_t layouts) {
    line.begin_session(session);
    bench::Bytes hello = hello_of_classes();
    hello.resize(hello.size() + std::size_t{layouts % 140} * 8, std::byte{7});
    (void)line.add(bench::message_bunch(0, line.next_sequence(0, false, 0), hello));
    line.send(true, instructions_per_object * added_.size());
}

void HostileClient::send_unless_joined(std::uint32_t how) {
    if ((how & 1) == 0) {
        line_.send();
    }
}

void HostileClient::note_kept() {
    if (!neighbours_.empty()) {
        return;
    }
    const MemoryReport report = end_.driver().memory_report();
    // Places of objects that went are kept for those to come.
    const auto pair_bytes = static_cast<std::int64_t>(report.pair_bytes) -
                            peer_bytes_per_object * static_cast<std::int64_t>(most_objects_);
    // What lies beside a pair where it has something rare is of the game's classes.
    const std::int64_t kept =
        static_cast<std::int64_t>(report.connection_bytes + report.in_flight_bytes) +
        (has_rare_ ? 0 : std::max<std::int64_t>(pair_bytes, 0));
    costs_.note(Score::Memory, static_cast<std::uint64_t>(std::max<std::int64_t>(kept, 0)),
                end_.place());
    // What docs/limits.md accounts for: packets at once, by the second, and two for each that it
    // acknowledged; and a header for each that it sent.
    const std::int64_t seconds =
        (end_.now().microseconds - began_.microseconds + 999'999) / 1'000'000;
    const std::int64_t packets =
        336 + 32 * seconds + 2 * static_cast<std::int64_t>(end_.driver().stats().packets_delivered);
    const std::int64_t accounted =
        packets * std::int64_t{packet_bytes} +
        static_cast<std::int64_t>(end_.datagrams_taken() * packet_header_bytes_max);
    const std::int64_t beyond = static_cast<std::int64_t>(line_.bytes_heard()) - accounted;
    costs_.note(Score::Answered, static_cast<std::uint64_t>(std::max<std::int64_t>(beyond, 0)),
                end_.place());
}

}  // namespace replayout::worst
