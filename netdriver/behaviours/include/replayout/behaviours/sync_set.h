// SPDX-License-Identifier: MIT
//
// SyncSet: a set that is a member of a NetworkBehaviour (Mirror: SyncHashSet, SyncSortedSet). The
// rules of sync_collection.h hold. It lies in memory as a sorted array, so one class is both of
// Mirror's, and is walked through in ascending order everywhere.
//
//     SyncSet<std::uint32_t> unlocked;
//     BehaviourBuilder<Player>(types, "Player").sync_set<&Player::unlocked>().build();
//
//     player.unlocked.union_with({3, 5, 8});
#pragma once

#include <replayout/behaviours/keyed_collection.h>
#include <replayout/reflection/callback.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace replayout {

/// Mirror's numbers.
enum class SyncSetOperation : std::uint8_t { Add, Remove, Clear };

namespace detail {

template <typename T>
struct SetChange {
    SyncSetOperation operation = SyncSetOperation::Add;
    T item{};

    friend bool operator==(const SetChange&, const SetChange&) = default;
    [[nodiscard]] static SetChange clear() { return {SyncSetOperation::Clear, T{}}; }
    [[nodiscard]] bool is_clear() const noexcept { return operation == SyncSetOperation::Clear; }
    [[nodiscard]] bool is_known() const noexcept { return operation <= SyncSetOperation::Clear; }
    [[nodiscard]] bool is_adding() const noexcept { return operation == SyncSetOperation::Add; }
    [[nodiscard]] const T& key_of() const noexcept { return item; }
    [[nodiscard]] static const T& key_of(const T& item) noexcept { return item; }
    void make_blank(bool /*is_key_too*/) { item = T{}; }
    [[nodiscard]] OperationMerge merge_into(SetChange&) const noexcept {
        return OperationMerge::Stops;
    }
    [[nodiscard]] static Result<const Type*> describe(TypeRegistry& registry,
                                                      std::string_view name) {
        return struct_builder<SetChange>(registry, name)
            .template property<&SetChange::operation>("operation")
            .template property<&SetChange::item>("item")
            .build();
    }
};

}  // namespace detail

/// `T` is whatever a property may be except a reference, copies, and compares with == and <.
template <typename T>
class SyncSet final : public KeyedCollection<T, detail::SetChange<T>> {
    static_assert(!std::is_same_v<T, bool>, "bools have no memory of their own: use std::uint8_t");
    using Change = detail::SetChange<T>;

  public:
    using Operation = SyncSetOperation;

    // What happened: each after the operation, on_clear before it. A callback may clear or replace
    // itself, and write where this end may write.

    Callback<void(const T& item)> on_add;
    Callback<void(const T& item)> on_remove;
    Callback<void()> on_clear;
    /// Any of these, behind the one of its own; a default item of Clear.
    Callback<void(Operation operation, const T& item)> on_change;

    [[nodiscard]] bool contains(const T& item) const {
        return this->is_at(this->index_of(item), item);
    }

    /// False also where it is there.
    bool add(T item) {
        const std::size_t index = this->index_of(item);
        if (this->is_at(index, item) || !this->may_write() || !this->may_grow(this->size()) ||
            !this->may_hold(&item, this->is_like_itself(item))) {
            return false;
        }
        this->editable().insert(this->iterator_to(index), item);
        this->record([&] { return Change{Operation::Add, item}; });
        tell(this->tells_what_is_written(), Operation::Add, item);
        return true;
    }
    /// False also where it is not there.
    bool remove(const T& item) {
        const std::size_t index = this->index_of(item);
        if (!this->is_at(index, item) || !this->may_write()) {
            return false;
        }
        const T removed = this->take(index);
        this->record([&] { return Change{Operation::Remove, removed}; });
        tell(this->tells_what_is_written(), Operation::Remove, removed);
        return true;
    }
    bool clear() {
        return this->clear_and([&] { tell(true, Operation::Clear, T{}); });
    }

    // Each as the operations that it takes, and false where one was refused. `others` may be
    // items() of this set, and in any order.

    bool union_with(std::vector<T> others) {
        bool is_done = this->may_write();
        for (T& item : others) {
            is_done = is_done && (contains(item) || add(std::move(item)));
        }
        return is_done;
    }
    bool except_with(std::vector<T> others) {
        if (!this->may_write()) {
            return false;
        }
        for (const T& item : others) {
            (void)remove(item);
        }
        return true;
    }
    bool intersect_with(std::vector<T> others) {
        std::sort(others.begin(), others.end());
        std::vector<T> gone;
        std::set_difference(this->begin(), this->end(), others.begin(), others.end(),
                            std::back_inserter(gone));
        return except_with(std::move(gone));
    }
    /// What is in one of the two.
    bool symmetric_except_with(std::vector<T> others) {
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
        bool is_done = this->may_write();
        for (T& item : others) {
            is_done = is_done && (contains(item) ? remove(item) : add(std::move(item)));
        }
        return is_done;
    }

    [[nodiscard]] static Result<detail::CollectionTypes> describe_types(TypeRegistry& registry) {
        const Result<Property> item = member_property<Change, &Change::item>(registry, "item");
        if (!item) {
            return item.error();
        }
        return SyncSet::describe(registry, "SyncSet<" + detail::item_name(*item) + ">");
    }

  private:
    void tell(bool is_told, Operation operation, const T& item) {
        if (!is_told) {
            return;
        }
        if (operation == Operation::Clear) {
            this->run(on_clear);
        } else {
            this->run(operation == Operation::Add ? on_add : on_remove, item);
        }
        this->run(on_change, operation, item);
    }
    void apply(const Change& received) override {
        const std::size_t index = this->index_of(received.item);
        const bool is_there = this->is_at(index, received.item);
        if (received.is_clear()) {
            tell(this->tells_what_arrives() && !this->empty(), Operation::Clear, T{});
            this->editable().clear();
        } else if (received.is_adding() && !is_there) {
            this->editable().insert(this->iterator_to(index), received.item);
            tell(this->tells_what_arrives(), Operation::Add, received.item);
        } else if (!received.is_adding() && is_there) {
            tell(this->tells_what_arrives(), Operation::Remove, this->take(index));
        }
    }
    void list_items(std::vector<Change>& operations) const override {
        for (const T& item : this->items()) {
            operations.push_back({Operation::Add, item});
        }
    }
};

}  // namespace replayout
