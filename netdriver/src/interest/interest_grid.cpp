// SPDX-License-Identifier: MIT
#include "interest_grid.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <bit>

namespace replayout {

namespace {

// A cull distance has between 32 and 64 cells: what is wrong by a cell or two is small then, and an
// object that walks does not change its cell in each tick.
constexpr int cells_log2 = 6;
constexpr std::uint64_t enter_max = std::uint64_t{1} << (2 * cells_log2);
// Of these cells. Small beside the hysteresis, which is two cells at least; without it something
// that stands on a border would be looked at in each tick.
constexpr double distance_margin = 0.125;

constexpr int double_bias = 1023;

/// The power of two above: 2^(k-1) <= distance < 2^k. Of a positive, normal number.
[[nodiscard]] int exponent_above(double distance) noexcept {
    return static_cast<int>(std::bit_cast<std::uint64_t>(distance) >> 52) - double_bias + 1;
}

[[nodiscard]] double power_of_two(int exponent) noexcept {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + double_bias) << 52);
}

/// Of so many cells, squared and rounded down. More than from corner to corner, 2^29 along each of
/// three axes, are not told apart.
[[nodiscard]] std::uint64_t squared(double cells) noexcept {
    const double at_most = std::min(cells, 4.0 * static_cast<double>(Lattice::border));
    return static_cast<std::uint64_t>(at_most * at_most);
}

/// The power of two of cells that has this square, or is the next above.
[[nodiscard]] int exponent_of_view(std::uint64_t view) noexcept {
    return view <= 1 ? 0 : (static_cast<int>(std::bit_width(view - 1)) + 1) / 2;
}

}  // namespace

InterestGrid::Layer::Layer(const Lattice& layer_lattice, LatticeMetric layer_metric,
                           int layer_exponent, std::uint32_t reach,
                           Vector<SpatialNode>* shared_nodes, MemoryResource* resource)
    : lattice(layer_lattice),
      metric(layer_metric),
      exponent(layer_exponent),
      own_nodes(Allocator<SpatialNode>(resource)),
      objects(shared_nodes != nullptr ? *shared_nodes : own_nodes, reach, SpatialHash::Blocks::Fine,
              layer_lattice.is_flat(), resource),
      viewer_nodes(Allocator<SpatialNode>(resource)),
      viewers(viewer_nodes, reach, SpatialHash::Blocks::Few, layer_lattice.is_flat(), resource),
      due_viewers(resource) {}

InterestGrid::InterestGrid(const InterestSettings& settings, InterestCounters& counters,
                           MemoryResource* objects, MemoryResource* pairs)
    : settings_(settings),
      counters_(counters),
      objects_resource_(objects),
      pairs_resource_(pairs),
      object_nodes_(Allocator<SpatialNode>(objects)),
      objects_(Allocator<Object>(objects)),
      due_objects_(objects),
      layers_storage_(objects),
      layers_(Allocator<Layer*>(objects)),
      viewers_(Allocator<Viewer>(objects)),
      free_viewers_(Allocator<std::uint32_t>(objects)) {
    const std::uint8_t first = layer_of_view(squared(static_cast<double>(settings.view_radius) /
                                                     static_cast<double>(settings.cell_size)));
    REPLAYOUT_ASSERT(first == grid_layer);
    (void)first;
    layers_[grid_layer]->is_filled = true;
}

std::uint8_t InterestGrid::find_layer(LatticeMetric metric, int exponent) const noexcept {
    const auto found = std::find_if(layers_.begin(), layers_.end(), [&](const Layer* layer) {
        return layer->metric == metric && layer->exponent == exponent;
    });
    return found == layers_.end() ? no_layer : static_cast<std::uint8_t>(found - layers_.begin());
}

std::uint8_t InterestGrid::layer_of_distance(int exponent) {
    const std::uint8_t found = find_layer(LatticeMetric::Centres, exponent);
    if (found != no_layer) {
        return found;
    }
    const Lattice cells(power_of_two(exponent - cells_log2), distance_margin, settings_.axes);
    const auto reach = static_cast<std::uint32_t>(
        (1.0 + static_cast<double>(settings_.hysteresis)) * static_cast<double>(1 << cells_log2));
    return add_layer(cells, LatticeMetric::Centres, exponent, reach);
}

std::uint8_t InterestGrid::layer_of_view(std::uint64_t view) {
    const int exponent = exponent_of_view(view);
    const std::uint8_t found = find_layer(LatticeMetric::Gap, exponent);
    if (found != no_layer) {
        return found;
    }
    const Lattice cells(static_cast<double>(settings_.cell_size),
                        static_cast<double>(settings_.hysteresis), settings_.axes);
    // So many cells between two, and one of them.
    return add_layer(cells, LatticeMetric::Gap, exponent, (1u << exponent) + 1);
}

std::uint8_t InterestGrid::add_layer(const Lattice& cells, LatticeMetric metric, int exponent,
                                     std::uint32_t reach) {
    const bool has_own_nodes = metric == LatticeMetric::Gap && !layers_.empty();
    layers_storage_.emplace_back(cells, metric, exponent, reach,
                                 has_own_nodes ? nullptr : &object_nodes_, objects_resource_);
    layers_.push_back(&layers_storage_.back());
    layers_.back()->due_viewers.grow(static_cast<std::uint32_t>(viewers_.size()));
    if (metric == LatticeMetric::Gap) {
        layers_.back()->viewer_nodes.resize(viewers_.size());
    }
    REPLAYOUT_ASSERT(layers_.size() < no_layer);
    return static_cast<std::uint8_t>(layers_.size() - 1);
}

void InterestGrid::link_viewers(Layer& layer) {
    layer.is_linked = true;
    layer.viewer_nodes.resize(viewers_.size());
    for (std::uint32_t viewer = 0; viewer < viewers_.size(); ++viewer) {
        if (viewers_[viewer].is_linked) {
            layer.viewers.insert(viewer, layer.lattice.at(*viewers_[viewer].location));
        }
    }
}

void InterestGrid::fill(Layer& layer) {
    layer.is_filled = true;
    layer.own_nodes.resize(object_nodes_.size());
    for (ObjectIndex index{}; objects_.contains(index); ++index) {
        if (objects_[index].layer == grid_layer) {
            layer.objects.insert(value_of(index), object_nodes_[index].at);
        }
    }
}

void InterestGrid::clear_unused_layers() {
    for (Layer* layer : layers_) {
        if (layer->is_filled && layer->viewers.count() == 0 && layer != layers_[grid_layer]) {
            layer->is_filled = false;
            layer->objects.clear();
        }
    }
}

void InterestGrid::add_object(ObjectIndex index, double cull_distance, const Vector3& location) {
    REPLAYOUT_ASSERT(cull_distance > 0);
    const int exponent = exponent_above(cull_distance);
    const std::uint8_t layer = layer_of_distance(exponent);
    if (!has_object(index) || objects_[index].layer == grid_layer) {
        remove_object(index);
        insert(index, layer, location);
    } else if (objects_[index].layer != layer) {
        // Who has it in sight keeps it as long as it is not too far, and need not be near by the
        // cells of this layer.
        unlink_object(index);
        --object_count_;
        insert(index, layer, location);
        objects_[index].is_relaid = true;
    }
    const double cells = cull_distance / power_of_two(exponent - cells_log2);
    objects_[index].enter = static_cast<std::uint32_t>(squared(cells));
    objects_[index].leave = static_cast<std::uint32_t>(
        squared(cells * (1.0 + static_cast<double>(settings_.hysteresis))));
    due_objects_.insert(index);
    is_object_due_ = true;
}

void InterestGrid::add_object(ObjectIndex index, const Vector3& location) {
    if (!has_object(index) || objects_[index].layer != grid_layer) {
        remove_object(index);
        insert(index, grid_layer, location);
    }
}

void InterestGrid::insert(ObjectIndex index, std::uint8_t layer, const Vector3& location) {
    object_nodes_.grow_to(index, SpatialNode());
    objects_.grow_to(index, Object());
    Object object;
    object.target = layers_[layer]->lattice.at(location);
    object.layer = layer;
    object.is_new = true;
    objects_[index] = object;
    ++object_count_;
    for_each_layer_of(object, [&](Layer& holder) {
        if (holder.is_of_grid() && &holder != layers_[grid_layer]) {
            grow_table(holder.own_nodes, std::size_t{value_of(index)} + 1, SpatialNode());
        }
        holder.objects.insert(value_of(index), object.target);
    });
    due_objects_.insert(index);
    is_object_due_ = true;
}

void InterestGrid::unlink_object(ObjectIndex index) {
    for_each_layer_of(objects_[index], [&](Layer& layer) { layer.objects.erase(value_of(index)); });
}

void InterestGrid::remove_object(ObjectIndex index) {
    if (!has_object(index)) {
        return;
    }
    const Object& object = objects_[index];
    const auto lose = [&](std::uint32_t viewer) {
        if (sees(viewer, index)) {
            set_sight(viewer, index, false);
        }
    };
    if (object.is_relaid) {
        for (std::uint32_t viewer = 0; viewer < viewers_.size(); ++viewer) {
            lose(viewer);
        }
    } else {
        // Neither it nor a viewer has moved in the hash since it was looked at, so who sees it is
        // near.
        for_each_layer_of(object, [&](const Layer& layer) {
            layer.viewers.for_each_near(object_nodes_[index].at, lose);
        });
    }
    unlink_object(index);
    objects_[index].layer = no_layer;
    --object_count_;
    due_objects_.erase(index);
}

std::uint64_t InterestGrid::cell_number_of(ObjectIndex index) const noexcept {
    if (!has_object(index)) {
        return 0;
    }
    // Line by line, so that what a viewer sees of a line lies side by side. Of cull distances cells
    // are small, and as many as make a half of the distance at most count as one.
    constexpr int line_bits = 20;
    constexpr int column_bits = 20;
    constexpr int plane_bits = 16;
    const std::uint8_t layer = objects_[index].layer;
    const int shift = layer == grid_layer ? 0 : cells_log2 - 2;
    const LatticePoint& at = object_nodes_[index].at;
    const auto bits_of = [shift](std::int32_t cell, int bits) {
        // Counted from the middle, so that a line does not end there.
        const std::int64_t counted = (cell >> shift) + (std::int64_t{1} << (bits - 1));
        return static_cast<std::uint64_t>(counted) & ((std::uint64_t{1} << bits) - 1);
    };
    std::uint64_t number = std::uint64_t{layer} + 1;
    number = number << plane_bits | bits_of(at.z, plane_bits);
    number = number << line_bits | bits_of(at.y, line_bits);
    return number << column_bits | bits_of(at.x, column_bits);
}

void InterestGrid::set_location(ObjectIndex index, const Vector3& location) {
    REPLAYOUT_ASSERT(has_object(index));
    Object& object = objects_[index];
    const LatticePoint& at = object_nodes_[index].at;
    const Lattice& lattice = layers_[object.layer]->lattice;
    const bool stays = !object.is_new && lattice.holds(at, location);
    object.target = stays ? at : lattice.at(location);
    if (object.target != at) {
        due_objects_.set(index);
        is_object_due_ = true;
    }
}

std::uint32_t InterestGrid::add_viewer(MarkedRow& changed) {
    std::uint32_t viewer = static_cast<std::uint32_t>(viewers_.size());
    if (free_viewers_.empty()) {
        viewers_.emplace_back(changed, pairs_resource_);
        free_viewers_.reserve(viewers_.size());
        for (Layer* layer : layers_) {
            layer->viewer_nodes.resize(viewers_.size());
            layer->due_viewers.grow_to(viewer);
        }
    } else {
        viewer = free_viewers_.back();
        free_viewers_.pop_back();
        viewers_[viewer].changed = &changed;
    }
    set_view_radius(viewer, static_cast<double>(settings_.view_radius));
    return viewer;
}

void InterestGrid::remove_viewer(std::uint32_t viewer) {
    Viewer& leaving = viewers_[viewer];
    REPLAYOUT_ASSERT(leaving.changed != nullptr);
    leaving.changed->mark_all(leaving.sight);
    leaving.sight.clear_all();
    for (Layer* layer : layers_) {
        layer->due_viewers.clear(viewer);
        const bool is_there = layer->is_of_grid() || layer->is_linked;
        if (leaving.is_linked && is_there && has_viewer(*layer, leaving)) {
            layer->viewers.erase(viewer);
        }
    }
    leaving.changed = nullptr;
    leaving.location.reset();
    leaving.view = 0;
    leaving.is_linked = false;
    leaving.is_moved = false;
    leaving.is_view_changed = false;
    free_viewers_.push_back(viewer);
}

void InterestGrid::set_viewer(std::uint32_t viewer, const Vector3& location) {
    viewers_[viewer].location = location;
    viewers_[viewer].is_moved = true;
}

void InterestGrid::set_view_radius(std::uint32_t viewer, double radius) {
    const std::uint64_t view = squared(radius / static_cast<double>(settings_.cell_size));
    if (viewers_[viewer].view != view) {
        viewers_[viewer].view = view;
        viewers_[viewer].is_view_changed = true;
    }
}

std::optional<float> InterestGrid::distance_squared_to(std::uint32_t viewer,
                                                       const Vector3& location) const noexcept {
    const std::optional<Vector3>& from = viewers_[viewer].location;
    if (!from.has_value()) {
        return std::nullopt;
    }
    const float x = location.x - from->x;
    const float y = settings_.axes == InterestAxes::XZ ? 0.0f : location.y - from->y;
    const float z = settings_.axes == InterestAxes::XY ? 0.0f : location.z - from->z;
    return x * x + y * y + z * z;
}

void InterestGrid::update() {
    for (Viewer& viewer : viewers_) {
        if (viewer.changed != nullptr) {
            viewer.sight.grow(static_cast<std::uint32_t>(objects_.size()));
            viewer.changed->grow(static_cast<std::uint32_t>(objects_.size()));
        }
    }
    if (is_object_due_) {
        move_objects();
    }
    for (Layer* layer : layers_) {
        if (!layer->is_of_grid() && !layer->is_linked) {
            link_viewers(*layer);
        }
    }
    for (std::uint32_t viewer = 0; viewer < viewers_.size(); ++viewer) {
        if (viewers_[viewer].is_view_changed) {
            viewers_[viewer].is_view_changed = false;
            change_view(viewer);
        }
        if (viewers_[viewer].is_moved) {
            viewers_[viewer].is_moved = false;
            move_viewer(viewer);
        }
    }
    if (is_object_due_) {
        look_at_objects();
    }
    for (Layer* layer : layers_) {
        layer->due_viewers.for_each([&](std::uint32_t viewer) { look_from(viewer, *layer); });
        layer->due_viewers.clear_all();
    }
    clear_unused_layers();
}

void InterestGrid::move_objects() {
    due_objects_.for_each([&](ObjectIndex index) {
        Object& object = objects_[index];
        const LatticePoint before = object_nodes_[index].at;
        if (object.target != before) {
            for_each_layer_of(
                object, [&](Layer& layer) { layer.objects.move(value_of(index), object.target); });
            ++counters_.cells_crossed;
        }
        object.target = before;
        object.is_new = false;
    });
}

void InterestGrid::change_view(std::uint32_t viewer) {
    Viewer& changed = viewers_[viewer];
    if (!changed.is_linked) {
        return;  // nowhere; it is about to find its layer, or will when it is anywhere
    }
    const std::uint8_t number = layer_of_view(changed.view);
    Layer& layer = *layers_[number];
    if (number != changed.layer) {
        Layer& before = *layers_[changed.layer];
        before.viewers.erase(viewer);
        before.due_viewers.clear(viewer);
        layer.viewers.insert(viewer, before.viewer_nodes[viewer].at);  // cells are the same
        changed.layer = number;
    }
    if (!layer.is_filled) {
        fill(layer);
    }
    layer.due_viewers.set(viewer);
}

void InterestGrid::move_viewer(std::uint32_t viewer) {
    Viewer& moved = viewers_[viewer];
    if (!moved.is_linked) {
        moved.layer = layer_of_view(moved.view);
        if (!layers_[moved.layer]->is_filled) {
            fill(*layers_[moved.layer]);
        }
    }
    for (Layer* layer : layers_) {
        if (!has_viewer(*layer, moved)) {
            continue;
        }
        const LatticePoint before = layer->viewer_nodes[viewer].at;
        if (!moved.is_linked) {
            layer->viewers.insert(viewer, layer->lattice.at(*moved.location));
            layer->due_viewers.set(viewer);
        } else if (!layer->lattice.holds(before, *moved.location)) {
            const LatticePoint at = layer->lattice.at(*moved.location);
            if (at != before) {
                layer->viewers.move(viewer, at);
                layer->due_viewers.set(viewer);
                ++counters_.cells_crossed;
            }
        }
    }
    moved.is_linked = true;
}

void InterestGrid::look_at_objects() {
    due_objects_.for_each([&](ObjectIndex index) {
        Object& object = objects_[index];
        const LatticePoint before = object.target;
        object.target = object_nodes_[index].at;
        for_each_layer_of(object,
                          [&](const Layer& layer) { look_at_object(layer, index, before); });
        object.is_relaid = false;
    });
    due_objects_.clear_all();
    is_object_due_ = false;
}

void InterestGrid::look_at_object(const Layer& layer, ObjectIndex index,
                                  const LatticePoint& before) {
    const auto look = [&](std::uint32_t viewer) {
        if (!layer.due_viewers.test(viewer)) {  // that one looks around itself
            examine(layer, viewer, index);
        }
    };
    if (objects_[index].is_relaid) {
        for (std::uint32_t viewer = 0; viewer < viewers_.size(); ++viewer) {
            if (sees(viewer, index)) {
                look(viewer);
            }
        }
    }
    layer.viewers.for_each_near_either(object_nodes_[index].at, before, look);
}

void InterestGrid::look_from(std::uint32_t viewer, const Layer& layer) {
    // All that it sees, wherever that went: it may have moved as well.
    const BitRow& sight = viewers_[viewer].sight;
    for (ObjectIndex index = sight.first(); index != BitRow::no_bit; index = sight.after(index)) {
        if (has_object(layer, index)) {
            examine(layer, viewer, index);
        }
    }
    layer.objects.for_each_near(layer.viewer_nodes[viewer].at, [&](std::uint32_t number) {
        const ObjectIndex index{number};
        if (!sees(viewer, index)) {
            examine(layer, viewer, index);
        }
    });
}

void InterestGrid::examine(const Layer& layer, std::uint32_t viewer, ObjectIndex index) {
    ++counters_.pairs_examined;
    const std::uint64_t distance =
        distance_squared(layer.viewer_nodes[viewer].at, object_nodes_[index].at, layer.metric);
    const bool is_in_sight = sees(viewer, index);
    const bool is_viewers = layer.is_of_grid();
    if (!is_in_sight && !is_viewers && distance > enter_max) {
        return;  // most of what is in a corner, without a look at the object
    }
    const std::uint64_t far = is_viewers    ? viewers_[viewer].view
                              : is_in_sight ? objects_[index].leave
                                            : objects_[index].enter;
    if (is_in_sight != (distance <= far)) {
        set_sight(viewer, index, !is_in_sight);
    }
}

void InterestGrid::set_sight(std::uint32_t viewer, ObjectIndex index, bool is_in_sight) {
    if (is_in_sight) {
        viewers_[viewer].sight.insert(index);
    } else {
        viewers_[viewer].sight.clear(index);
    }
    viewers_[viewer].changed->mark(index);
}

}  // namespace replayout
