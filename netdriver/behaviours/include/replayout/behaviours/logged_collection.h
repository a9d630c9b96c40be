// SPDX-License-Identifier: MIT
//
// What SyncList, SyncDictionary and SyncSet are made of, beside the rules of sync_collection.h: the
// items, and the operations that are on their way.
#pragma once

#include <replayout/behaviours/sync_collection.h>
#include <replayout/dynamic_memory.h>
#include <replayout/reflection/member_property.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/reflection/visit_references.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace replayout {

/// The items, and the operations that wait. `Operation` has clear(), is_clear(), make_blank(),
/// merge_into(earlier) and describe().
template <typename Item, typename Operation>
class LoggedCollection : public SyncCollection {
  public:
    using value_type = Item;
    /// Not all lists of items are what it may have.
    static constexpr bool has_invalid_items = false;

    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(state_.items.size());
    }
    [[nodiscard]] bool empty() const noexcept { return state_.items.empty(); }
    [[nodiscard]] const std::vector<Item>& items() const noexcept { return state_.items; }
    [[nodiscard]] auto begin() const noexcept { return state_.items.begin(); }
    [[nodiscard]] auto end() const noexcept { return state_.items.end(); }
    [[nodiscard]] std::size_t waiting_count() const noexcept override {
        return log_.operations.size();
    }

    // For BehaviourBuilder.

    /// Registers what is missing. `name` is that of the collection for what it holds.
    [[nodiscard]] static Result<detail::CollectionTypes> describe(TypeRegistry& registry,
                                                                  std::string name) {
        if (const Type* changes = registry.find(type_key_of<Changes>())) {
            return detail::CollectionTypes{registry.find(type_key_of<State>()), changes};
        }
        const Result<Property> items = member_property<State, &State::items>(registry, "items");
        if (!items) {
            return items.error();
        }
        if (has_references(*items)) {
            return Error{ErrorCode::Unsupported, "items hold no references: keep net ids"};
        }
        // A list and a set of the same items share it.
        const Type* state = registry.find(type_key_of<State>());
        if (state == nullptr) {
            const std::string state_name = "Items<" + detail::item_name(*items->element) + ">";
            const Result<const Type*> built =
                struct_builder<State>(registry, detail::free_name(registry, state_name))
                    .template property<&State::items>("items")
                    .template property<&State::changes_count>("changes_count")
                    .template property<&State::is_partial>("is_partial")
                    .build();
            if (!built) {
                return built.error();
            }
            state = *built;
        }
        name = detail::free_name(registry, std::move(name));
        const Result<const Type*> operation = Operation::describe(registry, name + ".Operation");
        if (!operation) {
            return operation.error();
        }
        const Result<const Type*> changes =
            struct_builder<Changes>(registry, name)
                .template property<&Changes::first>("first")
                .template property<&Changes::operations>("operations")
                .build();
        if (!changes) {
            return changes.error();
        }
        return detail::CollectionTypes{state, *changes};
    }
    [[nodiscard]] static std::uint32_t state_offset() noexcept {
        return member_offset<LoggedCollection, &LoggedCollection::state_>();
    }

  protected:
    using State = detail::CollectionState<Item>;
    using Changes = detail::CollectionChanges<Operation>;

    /// Removes all items, of which `tell` runs the callbacks before.
    template <typename Tell>
    bool clear_and(const Tell& tell) {
        if (!may_write()) {
            return false;
        }
        if (!empty()) {
            if (tells_what_is_written()) {
                tell();
            }
            state_.items.clear();
            record([] { return Operation::clear(); });
        }
        return true;
    }

    [[nodiscard]] std::vector<Item>& editable() noexcept { return state_.items; }
    /// Takes the item out.
    [[nodiscard]] Item take(std::size_t index) {
        const auto position = state_.items.begin() + static_cast<std::ptrdiff_t>(index);
        Item removed = std::move(*position);
        state_.items.erase(position);
        return removed;
    }
    /// The items changed by this operation, which is made only if somebody is to be sent it.
    template <typename Make>
    void record(Make make) {
        if (!is_recording()) {
            ++state_.changes_count;
            log_.operations.clear();
        } else {
            log(make());
        }
        written();
    }
    /// Whether these of the server can be, one behind the other.
    [[nodiscard]] virtual bool may_apply(std::span<const Operation> operations) const = 0;
    /// Does one of them, and tells of it.
    virtual void apply(const Operation& operation) = 0;
    [[nodiscard]] virtual bool are_valid(const std::vector<Item>& items) const {
        return items.empty() || has_room(items.size() - 1);
    }
    /// Appends the operations that make these items out of none.
    virtual void list_items(std::vector<Operation>& operations) const = 0;

  private:
    /// How many operations are looked at for one to be merged into.
    static constexpr std::size_t merge_steps_max = 64;
    /// Client: how many operations are kept until all parts have come, for each item that the
    /// collection may have.
    static constexpr std::size_t ahead_per_item = 4;

    void log(Operation operation) {
        if (operation.is_clear()) {
            log_.operations.clear();  // A clear may come behind a gap.
        }
        if (!may_coalesce() || !merge(operation)) {
            ++state_.changes_count;
            log_.operations.push_back(std::move(operation));
        }
    }
    [[nodiscard]] bool merge(Operation& operation) {
        const std::size_t count = log_.operations.size();
        for (std::size_t i = count; i > count - std::min(count, merge_steps_max); --i) {
            const detail::OperationMerge merged = operation.merge_into(log_.operations[i - 1]);
            if (merged != detail::OperationMerge::Passes) {
                return merged == detail::OperationMerge::Done;
            }
        }
        return false;
    }

    [[nodiscard]] CallResult send(std::size_t first, std::size_t count,
                                  const detail::CollectionCall& call) override {
        const auto size = static_cast<std::uint32_t>(log_.operations.size());
        // An owner tells of its ownership: its calls come in order, and all of them.
        log_.first = owner_epoch() != 0 ? owner_epoch() : state_.changes_count - size;
        if (count == size) {
            return call(&log_);
        }
        Changes part;
        part.first = log_.first + (owner_epoch() != 0 ? 0 : static_cast<std::uint32_t>(first));
        const auto begin = log_.operations.begin() + static_cast<std::ptrdiff_t>(first);
        part.operations.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
        return call(&part);
    }
    [[nodiscard]] CallResult send_state(const detail::CollectionCall& call) const override {
        return call(&state_);
    }
    void forget(std::size_t count) noexcept override {
        log_.operations.erase(log_.operations.begin(),
                              log_.operations.begin() + static_cast<std::ptrdiff_t>(count));
    }
    void make_blank(std::size_t operation, bool is_key_too) override {
        log_.operations[operation].make_blank(is_key_too);
    }
    [[nodiscard]] std::size_t item_count() const noexcept override { return state_.items.size(); }
    void restate() override {
        log_.operations.assign(1, Operation::clear());
        list_items(log_.operations);
        state_.changes_count += static_cast<std::uint32_t>(log_.operations.size());
    }
    [[nodiscard]] CallResult send_items(std::uint32_t number,
                                        const detail::CollectionCall& call) const override {
        const State told{state_.items, number, state_.is_partial};
        return call(&told);
    }
    void hold_back(bool is_held_back) noexcept override {
        state_.items.is_held_back = is_held_back;
        state_.is_partial = is_held_back;
    }
    [[nodiscard]] const void* item_at(std::size_t index) const noexcept override {
        return &state_.items[index];
    }
    void pack(const detail::CollectionCall& call, std::size_t bytes_max) override {
        stop_coalescing();  // What waits to be sent is a part of these items.
        std::vector<Operation> operations(1, Operation::clear());
        list_items(operations);
        Changes part;
        part.first = state_.changes_count - static_cast<std::uint32_t>(operations.size());
        for (std::size_t begin = 0; begin < operations.size();) {
            std::size_t end = begin;
            for (std::size_t bytes = 0; end < operations.size() && end - begin < count_max();
                 ++end) {
                bytes += end == 0 ? 0 : item_bytes(&state_.items[end - 1]);
                if (end > begin && bytes > bytes_max) {
                    break;
                }
            }
            part.operations.assign(operations.begin() + static_cast<std::ptrdiff_t>(begin),
                                   operations.begin() + static_cast<std::ptrdiff_t>(end));
            (void)call(&part);
            part.first += static_cast<std::uint32_t>(end - begin);
            begin = end;
        }
    }
    [[nodiscard]] bool is_partial() const noexcept override { return state_.is_partial; }
    void receive_part(const detail::CollectionReader& reader, bool is_last) override {
        Changes part;
        if (!is_partial()) {
            return;  // The client asked twice.
        }
        const bool is_read = reader(&part);
        const bool is_first = !part.operations.empty() && part.operations.front().is_clear();
        if (is_read && !is_first && part.first != state_.changes_count) {
            return;  // The rest of an answer to an earlier question: it continues other items.
        }
        if (!is_read || !may_apply(part.operations)) {
            refuse_received();
            return;
        }
        for (std::size_t i = 0; i < part.operations.size() && is_spawned(); ++i) {
            state_.changes_count = part.first + static_cast<std::uint32_t>(i) + 1;
            apply(part.operations[i]);
        }
        if (is_last && is_spawned()) {
            if (wanted_count_ &&
                static_cast<std::int32_t>(state_.changes_count - *wanted_count_) < 0) {
                want_parts();  // That was the answer to an earlier question.
                return;
            }
            wanted_count_.reset();
            state_.is_partial = false;
            take_ahead();
            parts_ended();
        }
    }
    void take_ahead() {
        const std::vector<Changes> ahead = std::exchange(ahead_, {});
        ahead_count_ = 0;
        for (const Changes& changes : ahead) {
            const std::uint32_t contained = state_.changes_count - changes.first;
            if (!is_spawned() || is_partial()) {
                return;
            }
            if (static_cast<std::int32_t>(contained) < 0) {
                state_.is_partial = true;  // Some of these were too many to keep.
                wanted_count_ = changes.first;
                want_parts();
                return;
            }
            receive(&changes);
        }
    }
    void keep_ahead(const Changes& changes) {
        ahead_count_ += changes.operations.size() + 1;
        if (ahead_count_ > ahead_per_item * (count_max() + 1)) {
            ahead_.clear();  // The client will find a gap, and ask again.
            ahead_count_ = 0;
        }
        ahead_.push_back(changes);
    }
    [[nodiscard]] bool receive_from_owner(const void* params) override {
        const Changes& changes = *static_cast<const Changes*>(params);
        if (!may_apply(changes.operations)) {
            return false;
        }
        for (const Operation& operation : changes.operations) {
            if (!is_owner_epoch(changes.first)) {
                break;  // The callback of the one before ended it.
            }
            record([&] { return operation; });
            apply(operation);
        }
        return true;
    }
    [[nodiscard]] std::uint32_t epoch_of(const void* params) const noexcept override {
        return static_cast<const Changes*>(params)->first;
    }
    void receive(const void* params) override {
        const Changes& changes = *static_cast<const Changes*>(params);
        if (is_partial()) {
            keep_ahead(changes);
            return;
        }
        if (!must_wait()) {
            apply_changes(changes);
            return;
        }
        kept_.push_back(changes);
        note_kept(changes.operations.size());
    }
    void receive_state(const void* params) override {
        const State& received = *static_cast<const State*>(params);
        if (!are_valid(received.items)) {
            refuse_received();
            return;
        }
        state_ = received;
        set_broken(false);
        if (is_partial()) {
            ahead_.clear();
            ahead_count_ = 0;
            wanted_count_ = state_.changes_count;
            want_parts();
        }
    }
    [[nodiscard]] bool take_items(const void* params) override {
        const State& received = *static_cast<const State*>(params);
        if (!are_valid(received.items)) {
            refuse_received();
            return false;
        }
        log_.operations.clear();
        kept_ = {};
        next_kept_ = 0;
        set_broken(false);
        state_.is_partial = received.is_partial;
        wanted_count_.reset();
        if (is_partial()) {
            want_parts();  // Until then it keeps its items.
        } else {
            state_.items = received.items;
        }
        return true;
    }
    [[nodiscard]] std::uint32_t number_of(const void* params) const noexcept override {
        return static_cast<const State*>(params)->changes_count;
    }
    [[nodiscard]] std::uint64_t kept_bytes(const RepLayout& changes,
                                           bool are_items_counted) const override {
        std::uint64_t bytes = 0;
        for (std::size_t i = next_kept_; i < kept_.size(); ++i) {
            bytes += dynamic_bytes(changes, &kept_[i]);
        }
        for (const Changes& call : ahead_) {
            bytes += dynamic_bytes(changes, &call);
        }
        if (are_items_counted) {
            Changes items;
            list_items(items.operations);
            bytes += dynamic_bytes(changes, &items);
        }
        return bytes;
    }
    void apply_first_kept() override {
        if (next_kept_ == kept_.size()) {
            return;
        }
        const Changes changes = std::move(kept_[next_kept_++]);
        if (next_kept_ == kept_.size()) {
            kept_ = {};
            next_kept_ = 0;
        }
        apply_changes(changes);
    }
    void apply_changes(const Changes& changes) {
        const std::span<const Operation> operations(changes.operations);
        const std::uint32_t contained = state_.changes_count - changes.first;
        const bool has_gap = static_cast<std::int32_t>(contained) < 0;
        std::size_t begin = has_gap ? 0 : std::min<std::size_t>(contained, operations.size());
        if (begin == operations.size()) {
            return;  // The items that it began with contain them.
        }
        if (has_gap || is_broken()) {
            while (begin < operations.size() && !operations[begin].is_clear()) {
                ++begin;
            }
            if (begin == operations.size()) {
                refuse_gap();
                return;
            }
        }
        if (!may_apply(operations.subspan(begin))) {
            refuse_received();
            return;
        }
        set_broken(false);
        for (std::size_t i = begin; i < operations.size() && is_spawned(); ++i) {
            state_.changes_count = changes.first + static_cast<std::uint32_t>(i) + 1;
            apply(operations[i]);
        }
    }
    [[nodiscard]] bool are_items_valid() const override { return are_valid(state_.items); }
    void reset(const detail::CollectionEnd& source) override {
        state_ = static_cast<const LoggedCollection&>(source).state_;
        log_.operations.clear();
        kept_.clear();
        next_kept_ = 0;
        ahead_.clear();
        ahead_count_ = 0;
        wanted_count_.reset();
        items_before_ = {};
        begin_anew();
    }
    void reset_and_keep(const detail::CollectionEnd& source) override {
        detail::CollectionItems<Item> items = std::move(state_.items);
        reset(source);
        items_before_ = std::move(items);
    }
    void end_keeping() override {
        if (is_partial()) {
            state_.items.swap(items_before_);
            wanted_count_ = state_.changes_count;
        }
        items_before_ = {};
    }

    State state_;
    Changes log_;
    std::vector<Changes> kept_;  // of a client: calls that wait until the object is started
    std::size_t next_kept_ = 0;
    std::vector<Changes> ahead_;   // of a client: calls that came before all parts did
    std::size_t ahead_count_ = 0;  // operations of these
    /// A client that waits for parts: operations that the items must contain at least. Parts for
    /// an object that was hidden meanwhile may contain fewer.
    std::optional<std::uint32_t> wanted_count_;
    detail::CollectionItems<Item> items_before_;  // of reset_and_keep()
};

}  // namespace replayout

/// Items and number arrive together, whatever is lost.
template <typename Item>
struct replayout::StructTraitsOf<replayout::detail::CollectionState<Item>>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};
