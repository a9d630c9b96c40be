// SPDX-License-Identifier: MIT
//
// What the mutator (mutants.py) writes into the sources calls: all mutants of all files are
// compiled at once, and REPLAYOUT_MUTANT says which one of them is on. Nothing but mutated copies
// includes it.
//
//     REPLAYOUT_MUTANT=17                           mutant 17 is on
//     REPLAYOUT_MUTANT=record REPLAYOUT_MUTANTS=f   none is; f tells, a byte a mutant, which of
//     them
//                                                   would have answered otherwise: 1, or 2 where
//                                                   the types have no such mutant
//
// A mutant that changed no answer in a test cannot fail it, so the test need not be played for it.
#pragma once

// A number in braces is no constant any more.
#pragma GCC diagnostic ignored "-Wnarrowing"

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace mutant {

inline constexpr int count_max = 1 << 15;
inline constexpr int recording = -1;
inline constexpr int off = -2;
inline constexpr int unknown = -3;

inline constinit int chosen = unknown;
inline constinit unsigned char seen[count_max] = {};

inline void write_seen() {
    const char* path = std::getenv("REPLAYOUT_MUTANTS");
    if (std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "wb")) {
        std::fwrite(seen, 1, sizeof(seen), file);
        std::fclose(file);
    }
}

inline void choose() {
    const char* text = std::getenv("REPLAYOUT_MUTANT");
    if (text == nullptr) {
        chosen = off;
    } else if (std::strcmp(text, "record") == 0) {
        chosen = recording;
        std::atexit(write_seen);
    } else {
        chosen = std::atoi(text);
    }
}

/// Asked where the mutant makes a difference.
constexpr bool is_on(int id) noexcept {
    if (std::is_constant_evaluated()) {
        return false;
    }
    if (chosen == unknown) {
        choose();
    }
    if (chosen == recording) {
        seen[id] = 1;
    }
    return chosen == id;
}

constexpr void is_none(int id) noexcept {
    if (!std::is_constant_evaluated()) {
        seen[id] = 2;
    }
}

/// What mutant Id leaves out is not even asked, which makes a difference in itself.
template <int Id>
constexpr bool skips() noexcept {
    return is_on(Id);
}

template <int Id, typename T>
constexpr bool never(const T& condition) {
    return static_cast<bool>(condition) && !is_on(Id);
}

template <int Id, typename T>
constexpr bool always(const T& condition) {
    return static_cast<bool>(condition) || is_on(Id);
}

template <int Id, typename T>
constexpr bool negated(const T& condition) {
    return static_cast<bool>(condition) != is_on(Id);
}

/// Whether a statement is to be run.
template <int Id>
constexpr bool keep() noexcept {
    return !is_on(Id);
}

template <int Id, typename T>
constexpr T number(T value) noexcept {
    if (is_on(Id)) {
        return static_cast<T>(value + 1);
    }
    return is_on(Id + 1) ? static_cast<T>(value - 1) : value;
}

/// Of two, where that is the right one and this is the other.
template <int Id, typename T>
constexpr const T& of_two(const T& first, const T& second, const T& right, const T& wrong) {
    const bool is_first = &right == &first;
    if (first != second && is_on(is_first ? Id + 1 : Id)) {
        return is_first ? second : first;
    }
    return first != second && is_on(Id + 2) ? wrong : right;
}

/// std::min; the first, the second, std::max.
template <int Id, typename T>
constexpr const T& least(const T& first, const T& second) {
    return second < first ? of_two<Id>(first, second, second, first)
                          : of_two<Id>(first, second, first, second);
}

template <int Id, typename T>
constexpr const T& greatest(const T& first, const T& second) {
    return first < second ? of_two<Id>(first, second, second, first)
                          : of_two<Id>(first, second, first, second);
}

/// std::clamp; not from below, not from above.
template <int Id, typename T>
constexpr const T& clamped(const T& value, const T& low, const T& high) {
    if (value < low) {
        return is_on(Id) ? value : low;
    }
    return high < value && !is_on(Id + 1) ? high : value;
}

/// `a < b` is written as `a < Relation<Id, Less>{} < b`, which has the same precedence.
enum Operator { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual };

template <int Id, Operator Which>
struct Relation {};

template <typename T, int Id, Operator Which>
struct LeftSide {
    const T& value;
};

template <typename T>
concept Counted = std::integral<T> && !std::same_as<T, bool>;

template <typename A, typename B>
concept Countable = Counted<std::remove_cvref_t<A>> && Counted<std::remove_cvref_t<B>>;

/// Whether `b` is the number behind `a`.
template <typename A, typename B>
constexpr bool is_next(const A& a, const B& b) noexcept {
    return static_cast<__int128>(a) + 1 == static_cast<__int128>(b);
}

/// Mutant Id lets the relation hold for more, Id + 1 for less.
template <int Id>
constexpr bool pick(bool value, bool is_wider, bool is_narrower) noexcept {
    if (is_wider && !value) {
        return is_on(Id);
    }
    return value && (is_narrower || !is_on(Id + 1));
}

template <int Id, Operator Which, typename A, typename B>
constexpr bool order(const A& a, const B& b) {
    bool is_step = false;  // one beyond the bound, or the last within
    constexpr bool is_strict = Which == Less || Which == Greater;
    if constexpr (Countable<A, B>) {
        is_step = Which == Less || Which == GreaterEqual ? is_next(a, b) : is_next(b, a);
    } else {
        is_none(is_strict ? Id + 1 : Id);
    }
    if constexpr (Which == Less) {
        return pick<Id>(a < b, a <= b, a < b && !is_step);
    } else if constexpr (Which == LessEqual) {
        return pick<Id>(a <= b, a <= b || is_step, a < b);
    } else if constexpr (Which == Greater) {
        return pick<Id>(a > b, a >= b, a > b && !is_step);
    } else {
        return pick<Id>(a >= b, a >= b || is_step, a > b);
    }
}

/// Equal: >=, <=. NotEqual: >, <.
template <int Id, Operator Which, typename A, typename B>
constexpr bool equality(const A& a, const B& b) {
    const bool is_equal = static_cast<bool>(a == b);
    bool is_on_now = false;
    if constexpr (Countable<A, B>) {
        // Less is what `>` and `>=` tell apart.
        if (!is_equal) {
            const bool is_greater = a > b;
            is_on_now = is_on((Which == Equal) == is_greater ? Id : Id + 1);
        }
    } else {
        is_none(Id);
        is_none(Id + 1);
    }
    return (is_equal == (Which == Equal)) != is_on_now;
}

#define MUTANT_RELATION(symbol, which, judge)                                               \
    template <typename T, int Id>                                                           \
    constexpr LeftSide<T, Id, which> operator symbol(const T& value, Relation<Id, which>) { \
        return {value};                                                                     \
    }                                                                                       \
    template <typename T, int Id, typename U>                                               \
    constexpr bool operator symbol(LeftSide<T, Id, which> left, const U& right) {           \
        return judge<Id, which>(left.value, right);                                         \
    }

MUTANT_RELATION(<, Less, order)
MUTANT_RELATION(<=, LessEqual, order)
MUTANT_RELATION(>, Greater, order)
MUTANT_RELATION(>=, GreaterEqual, order)
MUTANT_RELATION(==, Equal, equality)
MUTANT_RELATION(!=, NotEqual, equality)

#undef MUTANT_RELATION

}  // namespace mutant
