// SPDX-License-Identifier: MIT
//
// SyncList: a list that is a member of a NetworkBehaviour (Mirror: SyncList). The rules of
// sync_collection.h hold.
//
//     class Bag : public NetworkBehaviour {
//       public:
//         SyncList<Item> items;
//     };
//     BehaviourBuilder<Bag>(types, "Bag").sync_list<&Bag::items>().build();
//
//     bag.items.add({"rope", 1});           // server
//     bag.items.on_add = [&](std::uint32_t index) { show(bag.items[index]); };  // client
#pragma once

#include <replayout/behaviours/logged_collection.h>
#include <replayout/reflection/callback.h>
#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace replayout {

/// Mirror's numbers.
enum class SyncListOperation : std::uint8_t { Add, Set, Insert, RemoveAt, Clear };

namespace detail {

template <typename T>
struct ListChange {
    SyncListOperation operation = SyncListOperation::Add;
    std::uint32_t index = 0;
    T item{};

    friend bool operator==(const ListChange&, const ListChange&) = default;
    [[nodiscard]] static ListChange clear() { return {SyncListOperation::Clear, 0, T{}}; }
    [[nodiscard]] bool is_clear() const noexcept { return operation == SyncListOperation::Clear; }
    void make_blank(bool /*is_key_too*/) { item = T{}; }

    [[nodiscard]] OperationMerge merge_into(ListChange& earlier) {
        const bool moves_none = earlier.operation == SyncListOperation::Set ||
                                earlier.operation == SyncListOperation::Add;
        if (operation != SyncListOperation::Set ||
            (!moves_none && earlier.operation != SyncListOperation::Insert)) {
            return OperationMerge::Stops;
        }
        if (earlier.index == index) {
            earlier.item = std::move(item);
            return OperationMerge::Done;
        }
        return moves_none ? OperationMerge::Passes : OperationMerge::Stops;
    }
    [[nodiscard]] static Result<const Type*> describe(TypeRegistry& registry,
                                                      std::string_view name) {
        return struct_builder<ListChange>(registry, name)
            .template property<&ListChange::operation>("operation")
            .template property<&ListChange::index>("index")
            .template property<&ListChange::item>("item")
            .build();
    }
};

}  // namespace detail

/// `T` is whatever a property may be except a reference, copies, and compares with ==.
template <typename T>
class SyncList final : public LoggedCollection<T, detail::ListChange<T>> {
    static_assert(!std::is_same_v<T, bool>, "bools have no memory of their own: use std::uint8_t");

  public:
    using Operation = SyncListOperation;

    // What happened: each after the operation, on_clear before it. A callback may clear or replace
    // itself, and write where this end may write.

    Callback<void(std::uint32_t index)> on_add;
    Callback<void(std::uint32_t index)> on_insert;
    Callback<void(std::uint32_t index, const T& previous)> on_set;
    Callback<void(std::uint32_t index, const T& removed)> on_remove;
    Callback<void()> on_clear;
    /// Any of these, behind the one of its own. The new item of Add and Insert, the old one of Set
    /// and RemoveAt, a default one of Clear.
    Callback<void(Operation operation, std::uint32_t index, const T& item)> on_change;

    [[nodiscard]] const T& operator[](std::uint32_t index) const noexcept {
        REPLAYOUT_EXPECT(index < this->size(), no_item(), "SyncList: item %u of a list of %u",
                         index, this->size());
        return this->items()[index];
    }
    [[nodiscard]] bool contains(const T& item) const {
        return std::find(this->begin(), this->end(), item) != this->end();
    }

    bool add(T item) { return put(Operation::Add, this->size(), std::move(item)); }
    /// At `index`, which may be the end.
    bool insert(std::uint32_t index, T item) {
        return put(Operation::Insert, index, std::move(item));
    }
    /// True also where it was that already.
    bool set(std::uint32_t index, T item) {
        REPLAYOUT_EXPECT(index < this->size(), false, "SyncList::set: item %u of a list of %u",
                         index, this->size());
        if (!this->may_write() || !this->may_hold(&item)) {
            return false;
        }
        if (!(this->items()[index] == item)) {
            using std::swap;  // std::array has one of its own
            swap(this->editable()[index], item);
            this->record([&] { return change(Operation::Set, index, this->items()[index]); });
            tell(this->tells_what_is_written(), Operation::Set, index, item);
        }
        return true;
    }
    bool remove_at(std::uint32_t index) {
        REPLAYOUT_EXPECT(index < this->size(), false,
                         "SyncList::remove_at: item %u of a list of %u", index, this->size());
        if (!this->may_write()) {
            return false;
        }
        const T removed = this->take(index);
        this->record([&] { return change(Operation::RemoveAt, index, T{}); });
        tell(this->tells_what_is_written(), Operation::RemoveAt, index, removed);
        return true;
    }
    /// The first that equals `item`. False also where there is none.
    bool remove(const T& item) {
        const auto found = std::find(this->begin(), this->end(), item);
        return found != this->end() && remove_at(static_cast<std::uint32_t>(found - this->begin()));
    }
    bool clear() {
        return this->clear_and([&] { tell(true, Operation::Clear, 0, T{}); });
    }

    [[nodiscard]] static Result<detail::CollectionTypes> describe_types(TypeRegistry& registry) {
        const Result<Property> described =
            member_property<detail::ListChange<T>, &detail::ListChange<T>::item>(registry, "item");
        if (!described) {
            return described.error();
        }
        return SyncList::describe(registry, "SyncList<" + detail::item_name(*described) + ">");
    }

  private:
    /// What an index beyond the items names.
    [[nodiscard]] static const T& no_item() {
        static const T none{};
        return none;
    }
    [[nodiscard]] static detail::ListChange<T> change(Operation operation, std::uint32_t index,
                                                      T item) {
        return {operation, index, std::move(item)};
    }
    bool put(Operation operation, std::uint32_t index, T item) {
        REPLAYOUT_EXPECT(index <= this->size(), false, "SyncList::insert: item %u of a list of %u",
                         index, this->size());
        if (!this->may_write() || !this->may_grow(this->size()) || !this->may_hold(&item)) {
            return false;
        }
        this->editable().insert(this->begin() + index, std::move(item));
        this->record([&] { return change(operation, index, this->items()[index]); });
        if (this->tells_what_is_written()) {
            tell(true, operation, index, T(this->items()[index]));
        }
        return true;
    }
    void tell(bool is_told, Operation operation, std::uint32_t index, const T& item) {
        if (!is_told) {
            return;
        }
        switch (operation) {
            case Operation::Add:
                this->run(on_add, index);
                break;
            case Operation::Insert:
                this->run(on_insert, index);
                break;
            case Operation::Set:
                this->run(on_set, index, item);
                break;
            case Operation::RemoveAt:
                this->run(on_remove, index, item);
                break;
            case Operation::Clear:
                this->run(on_clear);
                break;
        }
        this->run(on_change, operation, index, item);
    }
    [[nodiscard]] bool may_apply(std::span<const detail::ListChange<T>> operations) const override {
        std::size_t size = this->size();
        for (const detail::ListChange<T>& next : operations) {
            switch (next.operation) {
                case Operation::Add:
                case Operation::Insert:
                    if (next.index > size || !this->has_room(size) ||
                        (next.operation == Operation::Add && next.index != size)) {
                        return false;
                    }
                    ++size;
                    break;
                case Operation::Set:
                case Operation::RemoveAt:
                    if (next.index >= size) {
                        return false;
                    }
                    size -= next.operation == Operation::RemoveAt ? 1u : 0u;
                    break;
                case Operation::Clear:
                    size = 0;
                    break;
                default:
                    return false;
            }
        }
        return true;
    }
    void apply(const detail::ListChange<T>& received) override {
        const std::uint32_t index = received.index;
        switch (received.operation) {
            case Operation::Add:
            case Operation::Insert:
                this->editable().insert(this->begin() + index, received.item);
                tell(this->tells_what_arrives(), received.operation, index, received.item);
                break;
            case Operation::Set:
                tell(this->tells_what_arrives(), Operation::Set, index,
                     std::exchange(this->editable()[index], received.item));
                break;
            case Operation::RemoveAt:
                tell(this->tells_what_arrives(), Operation::RemoveAt, index, this->take(index));
                break;
            case Operation::Clear:
                tell(this->tells_what_arrives() && !this->empty(), Operation::Clear, 0, T{});
                this->editable().clear();
                break;
        }
    }
    void list_items(std::vector<detail::ListChange<T>>& operations) const override {
        for (std::uint32_t i = 0; i < this->size(); ++i) {
            operations.push_back(change(Operation::Add, i, this->items()[i]));
        }
    }
};

}  // namespace replayout
