// SPDX-License-Identifier: MIT
//
// SyncDictionary: values by keys, a member of a NetworkBehaviour (Mirror: SyncDictionary). The
// rules of sync_collection.h hold. It lies in memory as an array of entries in order of their keys,
// so it is walked through in that order, everywhere; what comes or goes moves those behind it.
//
//     SyncDictionary<std::string, std::int32_t> prices;
//     BehaviourBuilder<Shop>(types, "Shop").sync_dictionary<&Shop::prices>().build();
//
//     shop.prices.set("rope", 12);
//     if (const std::int32_t* price = shop.prices.find("rope")) { ... }
#pragma once

#include <replayout/behaviours/keyed_collection.h>
#include <replayout/reflection/callback.h>

#include <cstdint>
#include <utility>

namespace replayout {

/// Mirror's numbers.
enum class SyncDictionaryOperation : std::uint8_t { Add, Set, Remove, Clear };

template <typename Key, typename Value>
struct SyncDictionaryEntry {
    Key key{};
    Value value{};

    friend bool operator==(const SyncDictionaryEntry&, const SyncDictionaryEntry&) = default;
};

namespace detail {

template <typename Key, typename Value>
struct DictionaryChange {
    SyncDictionaryOperation operation = SyncDictionaryOperation::Add;
    Key key{};
    Value value{};

    friend bool operator==(const DictionaryChange&, const DictionaryChange&) = default;
    [[nodiscard]] static DictionaryChange clear() {
        return {SyncDictionaryOperation::Clear, Key{}, Value{}};
    }
    [[nodiscard]] bool is_clear() const noexcept {
        return operation == SyncDictionaryOperation::Clear;
    }
    [[nodiscard]] bool is_known() const noexcept {
        return operation <= SyncDictionaryOperation::Clear;
    }
    [[nodiscard]] bool is_adding() const noexcept {
        return operation <= SyncDictionaryOperation::Set;
    }
    [[nodiscard]] const Key& key_of() const noexcept { return key; }
    [[nodiscard]] static const Key& key_of(const SyncDictionaryEntry<Key, Value>& item) noexcept {
        return item.key;
    }
    void make_blank(bool is_key_too) {
        value = Value{};
        if (is_key_too) {
            key = Key{};
        }
    }

    [[nodiscard]] OperationMerge merge_into(DictionaryChange& earlier) {
        if (operation != SyncDictionaryOperation::Set || earlier.is_clear()) {
            return OperationMerge::Stops;
        }
        if (!(earlier.key == key)) {
            return OperationMerge::Passes;
        }
        if (earlier.operation == SyncDictionaryOperation::Remove) {
            return OperationMerge::Stops;
        }
        earlier.value = std::move(value);
        return OperationMerge::Done;
    }
    [[nodiscard]] static Result<const Type*> describe(TypeRegistry& registry,
                                                      std::string_view name) {
        return struct_builder<DictionaryChange>(registry, name)
            .template property<&DictionaryChange::operation>("operation")
            .template property<&DictionaryChange::key>("key")
            .template property<&DictionaryChange::value>("value")
            .build();
    }
};

}  // namespace detail

/// Both are whatever a property may be except a reference, copy, and compare with ==; `Key` has <.
template <typename Key, typename Value>
class SyncDictionary final : public KeyedCollection<SyncDictionaryEntry<Key, Value>,
                                                    detail::DictionaryChange<Key, Value>> {
    using Change = detail::DictionaryChange<Key, Value>;

  public:
    using Entry = SyncDictionaryEntry<Key, Value>;
    using Operation = SyncDictionaryOperation;

    // What happened: each after the operation, on_clear before it. A callback may clear or replace
    // itself, and write where this end may write.

    Callback<void(const Key& key)> on_add;
    Callback<void(const Key& key, const Value& previous)> on_set;
    Callback<void(const Key& key, const Value& removed)> on_remove;
    Callback<void()> on_clear;
    /// Any of these, behind the one of its own. The new value of Add, the old one of Set and
    /// Remove, a default one of Clear.
    Callback<void(Operation operation, const Key& key, const Value& value)> on_change;

    /// Null: it has no such key. Until the next write.
    [[nodiscard]] const Value* find(const Key& key) const {
        const std::size_t index = this->index_of(key);
        return this->is_at(index, key) ? &this->items()[index].value : nullptr;
    }
    [[nodiscard]] bool contains(const Key& key) const { return find(key) != nullptr; }

    /// Adds the key, or gives it another value. True also where it had that already, which is no
    /// operation (of Mirror's it is one).
    bool set(const Key& key, Value value) {
        const std::size_t index = this->index_of(key);
        if (!this->is_at(index, key)) {
            return insert(index, key, std::move(value));
        }
        if (!this->may_write()) {
            return false;
        }
        if (!(this->items()[index].value == value)) {
            const Entry next{key, value};
            if (!this->may_hold(&next)) {
                return false;
            }
            using std::swap;  // std::array has one of its own
            swap(this->editable()[index].value, value);
            this->record([&] { return Change{Operation::Set, key, this->items()[index].value}; });
            if (this->tells_what_is_written()) {
                tell(true, Operation::Set, Key(key), value);  // `key` may be that of an entry
            }
        }
        return true;
    }
    /// False also where it has the key.
    bool add(const Key& key, Value value) {
        const std::size_t index = this->index_of(key);
        return !this->is_at(index, key) && insert(index, key, std::move(value));
    }
    /// False also where it has no such key.
    bool remove(const Key& key) {
        const std::size_t index = this->index_of(key);
        if (!this->is_at(index, key) || !this->may_write()) {
            return false;
        }
        const Entry removed = this->take(index);
        this->record([&] { return Change{Operation::Remove, removed.key, Value{}}; });
        tell(this->tells_what_is_written(), Operation::Remove, removed.key, removed.value);
        return true;
    }
    bool clear() {
        return this->clear_and([&] { tell(true, Operation::Clear, Key{}, Value{}); });
    }

    [[nodiscard]] static Result<detail::CollectionTypes> describe_types(TypeRegistry& registry) {
        const Result<Property> key = member_property<Entry, &Entry::key>(registry, "key");
        const Result<Property> value = member_property<Entry, &Entry::value>(registry, "value");
        if (!key || !value) {
            return key ? value.error() : key.error();
        }
        const std::string name =
            "SyncDictionary<" + detail::item_name(*key) + ", " + detail::item_name(*value) + ">";
        if (registry.find(type_key_of<Entry>()) == nullptr) {
            const Result<const Type*> entry =
                struct_builder<Entry>(registry, detail::free_name(registry, name + ".Entry"))
                    .template property<&Entry::key>("key")
                    .template property<&Entry::value>("value")
                    .build();
            if (!entry) {
                return entry.error();
            }
        }
        return SyncDictionary::describe(registry, name);
    }

  private:
    bool insert(std::size_t index, const Key& key, Value value) {
        Entry entry{key, std::move(value)};
        if (!this->may_write() || !this->may_grow(this->size()) ||
            !this->may_hold(&entry, this->is_like_itself(entry.key))) {
            return false;
        }
        this->editable().insert(this->iterator_to(index), std::move(entry));
        this->record([&] { return Change{Operation::Add, key, this->items()[index].value}; });
        if (this->tells_what_is_written()) {
            const Entry added = this->items()[index];
            tell(true, Operation::Add, added.key, added.value);
        }
        return true;
    }
    void tell(bool is_told, Operation operation, const Key& key, const Value& value) {
        if (!is_told) {
            return;
        }
        switch (operation) {
            case Operation::Add:
                this->run(on_add, key);
                break;
            case Operation::Set:
                this->run(on_set, key, value);
                break;
            case Operation::Remove:
                this->run(on_remove, key, value);
                break;
            case Operation::Clear:
                this->run(on_clear);
                break;
        }
        this->run(on_change, operation, key, value);
    }
    void apply(const Change& received) override {
        const std::size_t index = this->index_of(received.key);
        const bool is_there = this->is_at(index, received.key);
        if (received.is_clear()) {
            tell(this->tells_what_arrives() && !this->empty(), Operation::Clear, Key{}, Value{});
            this->editable().clear();
        } else if (received.is_adding() && is_there) {
            tell(this->tells_what_arrives(), Operation::Set, received.key,
                 std::exchange(this->editable()[index].value, received.value));
        } else if (received.is_adding()) {
            this->editable().insert(this->iterator_to(index), Entry{received.key, received.value});
            tell(this->tells_what_arrives(), Operation::Add, received.key, received.value);
        } else if (is_there) {
            const Entry removed = this->take(index);
            tell(this->tells_what_arrives(), Operation::Remove, removed.key, removed.value);
        }
    }
    void list_items(std::vector<Change>& operations) const override {
        for (const Entry& entry : this->items()) {
            operations.push_back({Operation::Add, entry.key, entry.value});
        }
    }
};

}  // namespace replayout
