// SPDX-License-Identifier: MIT
//
// Visits the states of sending_rep_state_model.h: all of them, breadth first, so that the first
// fault found is one of the shortest; or along one long random walk, where all are too many.
#pragma once

#include "support/replication/sending_rep_state_model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace replayout::model {

struct Bounds {
    /// The steps there are beside edit and compare. A walk draws twice as often what stands twice.
    std::vector<Step> steps;
    /// How many of A, B, C the game writes.
    int value_count = 3;
    /// How long runs get.
    std::size_t length_max = SIZE_MAX;
    /// Done first, and not counted.
    std::vector<Step> prologue = {};
    /// Which faults are looked for.
    FaultMask faults = all_faults;
};

struct Verdict {
    Fault fault = Fault::None;
    /// Steps to the fault.
    std::size_t length = 0;
    /// The run to the fault, one line a step, for the reader.
    std::string run;
    std::size_t state_count = 0;
    std::size_t transition_count = 0;
    /// How often each kind of step was done.
    std::array<std::size_t, step_count> step_counts = {};
};

inline const char* to_string(Step step) {
    static constexpr const char* names[] = {"edit",
                                            "compare",
                                            "send",
                                            "send in two parts",
                                            "send the first part",
                                            "send the open alone",
                                            "skip",
                                            "deliver",
                                            "lose",
                                            "lose, though received",
                                            "open",
                                            "reopen, same slot",
                                            "reopen, new slot",
                                            "hide",
                                            "show"};
    static_assert(std::size(names) == step_count);
    return names[static_cast<std::size_t>(step)];
}

inline const char* to_string(Fault fault) {
    static constexpr const char* names[] = {"none", "unsafe", "inexact", "wasteful", "restless"};
    return names[static_cast<std::size_t>(fault)];
}

inline std::string to_string(Action action) {
    std::string text = to_string(action.step);
    if (action.step == Step::Edit) {
        text += " p" + std::to_string(action.property) + " = ";
        text += static_cast<char>('A' + static_cast<int>(action.value));
    }
    return text;
}

inline std::vector<Action> actions_of(const Bounds& bounds, std::size_t property_count) {
    std::vector<Action> actions;
    for (std::size_t property = 0; property < property_count; ++property) {
        for (int value = 0; value < bounds.value_count; ++value) {
            actions.push_back(
                {Step::Edit, static_cast<std::uint8_t>(property), static_cast<Value>(value)});
        }
    }
    actions.push_back({Step::Compare});
    for (const Step step : bounds.steps) {
        actions.push_back({step});
    }
    return actions;
}

/// Set of state hashes. Open addressing: with a node a state this would be most of the time. That
/// two of ten million states share a hash, and one of them is missed, has a chance below 1 in 10^5.
class VisitedSet {
  public:
    /// False if it was there.
    bool insert(std::uint64_t hash) {
        if (count_ * 2 >= slots_.size()) {
            grow();
        }
        return insert_into(slots_, hash);
    }

  private:
    bool insert_into(std::vector<std::uint64_t>& slots, std::uint64_t hash) {
        hash += hash == 0 ? 1u : 0u;
        const std::size_t mask = slots.size() - 1;
        std::size_t slot = hash & mask;
        for (; slots[slot] != 0; slot = (slot + 1) & mask) {
            if (slots[slot] == hash) {
                return false;
            }
        }
        slots[slot] = hash;
        ++count_;
        return true;
    }

    void grow() {
        std::vector<std::uint64_t> slots(std::max<std::size_t>(slots_.size() * 2, 1024));
        count_ = 0;
        for (const std::uint64_t hash : slots_) {
            if (hash != 0) {
                insert_into(slots, hash);
            }
        }
        slots_ = std::move(slots);
    }

    std::vector<std::uint64_t> slots_;
    std::size_t count_ = 0;
};

template <class Model>
Model start_of(const Bounds& bounds) {
    Model model;
    for (const Step step : bounds.prologue) {
        const bool is_done = model.apply({step});
        REPLAYOUT_ASSERT(is_done);
    }
    return model;
}

/// Does the actions once more, with versions as they come, and tells of the last of them.
template <class Model>
std::string tell(const Bounds& bounds, const std::vector<Action>& actions, Fault fault) {
    constexpr std::size_t line_count_max = 40;
    Model model = start_of<Model>(bounds);
    std::string text;
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const bool is_done = model.apply(actions[i]);
        REPLAYOUT_ASSERT(is_done);
        if (i + line_count_max >= actions.size()) {
            std::string line = to_string(actions[i]);
            line.resize(std::max<std::size_t>(line.size() + 1, 24), ' ');
            text += line + model.describe() + "\n";
        }
    }
    // A fault that only the canonical forms had would be one of the checker.
    REPLAYOUT_ASSERT(model.check(bounds.faults) == fault);
    return text;
}

template <class Model>
class Explorer {
  public:
    explicit Explorer(const Bounds& bounds)
        : bounds_(bounds), actions_(actions_of(bounds, Model::property_count)) {}

    Verdict run() {
        Model start = start_of<Model>(bounds_);
        start.canonicalize();
        visit(start, 0, 0);
        for (std::size_t length = 0; !next_.empty() && length < bounds_.length_max; ++length) {
            std::vector<Entry> frontier = std::move(next_);
            next_.clear();
            for (const Entry& entry : frontier) {
                expand(entry);
                if (verdict_.fault != Fault::None) {
                    return std::move(verdict_);
                }
            }
        }
        return std::move(verdict_);
    }

  private:
    struct Entry {
        Model model;
        std::uint32_t index;
    };
    struct Origin {
        std::uint32_t parent;
        std::uint8_t action;
    };

    void expand(const Entry& entry) {
        for (std::size_t action = 0; action < actions_.size(); ++action) {
            Model model = entry.model;
            if (!model.apply(actions_[action])) {
                continue;
            }
            ++verdict_.transition_count;
            ++verdict_.step_counts[static_cast<std::size_t>(actions_[action].step)];
            model.canonicalize();
            visit(model, entry.index, static_cast<std::uint8_t>(action));
            if (verdict_.fault != Fault::None) {
                return;
            }
        }
    }

    void visit(Model& model, std::uint32_t parent, std::uint8_t action) {
        if (!visited_.insert(model.hash())) {
            return;
        }
        const auto index = static_cast<std::uint32_t>(origins_.size());
        origins_.push_back({parent, action});
        verdict_.state_count = origins_.size();
        verdict_.fault = model.check(bounds_.faults);
        if (verdict_.fault == Fault::None) {
            next_.push_back({model, index});
        } else {
            describe_run(index);
        }
    }

    void describe_run(std::uint32_t index) {
        std::vector<Action> actions;
        for (; index != 0; index = origins_[index].parent) {
            actions.insert(actions.begin(), actions_[origins_[index].action]);
        }
        verdict_.length = actions.size();
        verdict_.run = tell<Model>(bounds_, actions, verdict_.fault);
    }

    Bounds bounds_;
    std::vector<Action> actions_;
    VisitedSet visited_;
    std::vector<Origin> origins_;
    std::vector<Entry> next_;
    Verdict verdict_;
};

/// All states within the bounds, or those up to the first fault.
template <class Model>
Verdict explore(const Bounds& bounds) {
    return Explorer<Model>(bounds).run();
}

/// splitmix64 of Steele, Lea and Flood, 2014.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// Below `bound`; the bias is of no matter here.
    std::size_t below(std::size_t bound) {
        std::uint64_t bits = state_ += 0x9E3779B97F4A7C15u;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
        return (bits ^ bits >> 31) % bound;
    }

  private:
    std::uint64_t state_;
};

/// One run of bounds.length_max steps, each drawn from those that are possible.
template <class Model>
Verdict walk(const Bounds& bounds, std::uint64_t seed) {
    const std::vector<Action> actions = actions_of(bounds, Model::property_count);
    Random random(seed);
    Model model = start_of<Model>(bounds);
    std::vector<Action> done;
    Verdict verdict;
    while (verdict.fault == Fault::None && done.size() < bounds.length_max) {
        const Action action = actions[random.below(actions.size())];
        if (model.apply(action)) {
            done.push_back(action);
            ++verdict.step_counts[static_cast<std::size_t>(action.step)];
            verdict.fault = model.check(bounds.faults);
        }
    }
    verdict.length = done.size();
    if (verdict.fault != Fault::None) {
        verdict.run = tell<Model>(bounds, done, verdict.fault);
    }
    return verdict;
}

/// The canonical forms of all that can follow a state, as a set.
template <class Model>
std::vector<std::uint64_t> successors_of(const Model& model, const std::vector<Action>& actions) {
    std::vector<std::uint64_t> successors;
    for (const Action action : actions) {
        Model next = model;
        if (next.apply(action)) {
            next.canonicalize();
            successors.push_back(next.hash());
        }
    }
    std::sort(successors.begin(), successors.end());
    return successors;
}

/// Whether along a walk each state and its canonical form have the same faults and successors.
template <class Model>
bool canonical_forms_agree(const Bounds& bounds, std::uint64_t seed) {
    constexpr Version version_max = 40;  // canonicalize() takes up to 63
    const std::vector<Action> actions = actions_of(bounds, Model::property_count);
    Random random(seed);
    Model model = start_of<Model>(bounds);
    for (std::size_t length = 0; length < bounds.length_max && model.version() < version_max;) {
        if (!model.apply(actions[random.below(actions.size())])) {
            continue;
        }
        ++length;
        Model canonical = model;
        canonical.canonicalize();
        if (canonical.check(bounds.faults) != model.check(bounds.faults) ||
            successors_of(canonical, actions) != successors_of(model, actions)) {
            return false;
        }
    }
    return true;
}

}  // namespace replayout::model
