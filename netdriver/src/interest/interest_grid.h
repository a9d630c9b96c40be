// SPDX-License-Identifier: MIT
//
// Who sees what: viewers and objects in cells. Told where things are at any rate; once a flush it
// looks at those that went over the border of a cell, and at their neighbours.
//
//     a layer of NetRelevancy::Grid        cells of the settings; how far is said by the viewer,
//                                          up to 2^k cells
//     a layer of NetRelevancy::Distance    cull distances from 2^k to 2^(k+1), cells of 2^(k-5);
//                                          how far is said by the object
//
// By distance an object is in one layer and a viewer in all; by cells a viewer is in one layer and
// an object in all, as many as there are viewers of such radii. So distances that differ widely do
// not meet in one hash, where the largest would decide who is a neighbour of whom, and there are no
// more layers than powers of two. All that is kept of a pair is one bit: whether it is in sight.
//
// First everything is moved, then looked at: two that move together are never apart in between,
// which would be for good where they are at a distance at which sight only holds.
#pragma once

#include <replayout/netdriver/net_stats.h>
#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "lattice.h"
#include "marked_row.h"
#include "spatial_hash.h"

#include <cstdint>
#include <list>
#include <optional>

namespace replayout {

class InterestGrid {
  public:
    static constexpr std::uint32_t no_viewer = 0xFFFF'FFFF;

    InterestGrid(const InterestSettings& settings, InterestCounters& counters,
                 MemoryResource* objects, MemoryResource* pairs);

    // Objects, by index. O(viewers nearby), but for set_location().

    /// From now on the object is seen within so far. By distance before, too, it stays in sight of
    /// whom it does not leave by the new one. O(viewers).
    void add_object(ObjectIndex index, double cull_distance, const Vector3& location);
    /// From now on it is seen by who looks so far.
    void add_object(ObjectIndex index, const Vector3& location);
    /// Out of everybody's sight. Nothing when it is not there.
    void remove_object(ObjectIndex index);
    [[nodiscard]] bool has_object(ObjectIndex index) const noexcept {
        return objects_.contains(index) && objects_[index].layer != no_layer;
    }
    [[nodiscard]] bool has_objects() const noexcept { return object_count_ > 0; }
    /// Where it is as of the last update(), roughly: what has neighbouring numbers is mostly seen
    /// by the same viewers. 0: nowhere.
    [[nodiscard]] std::uint64_t cell_number_of(ObjectIndex index) const noexcept;
    /// Of an object that is there. O(1).
    void set_location(ObjectIndex index, const Vector3& location);

    // Viewers.

    /// Nowhere at first. Objects that come into its sight or go out of it are marked in `changed`.
    [[nodiscard]] std::uint32_t add_viewer(MarkedRow& changed);
    /// O(what it sees).
    void remove_viewer(std::uint32_t viewer);
    void set_viewer(std::uint32_t viewer, const Vector3& location);
    /// Nothing when it is the same.
    void set_view_radius(std::uint32_t viewer, double radius);
    /// Square of how far a location is from the viewer, along the axes that count; nothing while
    /// the viewer is nowhere.
    [[nodiscard]] std::optional<float> distance_squared_to(std::uint32_t viewer,
                                                           const Vector3& location) const noexcept;

    /// As of the last update(). Beyond what there is nothing is seen.
    [[nodiscard]] bool sees(std::uint32_t viewer, ObjectIndex index) const noexcept {
        return viewers_[viewer].sight.test(index);
    }
    /// O(what moved to another cell x its neighbours); and O(objects of the grid) where a viewer is
    /// the first that sees about as far as it does.
    void update();

  private:
    static constexpr std::uint8_t no_layer = 0xFF;
    static constexpr std::uint8_t grid_layer = 0;  // which objects of the grid name as theirs

    struct Layer {
        /// Objects are in `shared_nodes`, or where that is null in nodes of its own.
        Layer(const Lattice& layer_lattice, LatticeMetric layer_metric, int layer_exponent,
              std::uint32_t reach, Vector<SpatialNode>* shared_nodes, MemoryResource* resource);

        [[nodiscard]] bool is_of_grid() const noexcept { return metric == LatticeMetric::Gap; }

        Lattice lattice;
        LatticeMetric metric;
        int exponent;  // of the cull distances, or of the cells that viewers see
        Vector<SpatialNode> own_nodes;
        SpatialHash objects;
        Vector<SpatialNode> viewer_nodes;
        SpatialHash viewers;
        NumberBitRow due_viewers;  // they are to look around themselves in the next update
        bool is_linked = false;    // of distances: viewers that are anywhere are in it
        bool is_filled = false;    // of the grid: its objects are in it
    };
    struct Object {
        LatticePoint target;      // where it is to be at the next update; within that, where it was
        std::uint32_t enter = 0;  // cells, squared; of layer 0 the viewer's count
        std::uint32_t leave = 0;
        std::uint8_t layer = no_layer;
        bool is_new = false;     // no update has seen it
        bool is_relaid = false;  // likewise, in this layer: whoever has it in sight may be anywhere
    };
    struct Viewer {
        Viewer(MarkedRow& changed_row, MemoryResource* resource)
            : changed(&changed_row), sight(resource) {}

        MarkedRow* changed;  // null: the slot is free
        BitRow sight;        // by object index
        std::optional<Vector3> location;
        std::uint64_t view = 0;           // cells, squared
        std::uint8_t layer = grid_layer;  // of those of the grid, while it is linked
        bool is_linked = false;
        bool is_moved = false;
        bool is_view_changed = false;
    };

    void insert(ObjectIndex index, std::uint8_t layer, const Vector3& location);
    /// Out of the hashes that it is in.
    void unlink_object(ObjectIndex index);
    [[nodiscard]] std::uint8_t find_layer(LatticeMetric metric, int exponent) const noexcept;
    [[nodiscard]] std::uint8_t layer_of_distance(int exponent);
    [[nodiscard]] std::uint8_t layer_of_view(std::uint64_t view);
    std::uint8_t add_layer(const Lattice& cells, LatticeMetric metric, int exponent,
                           std::uint32_t reach);
    /// Calls `visit(layer)` for each that the object is in.
    template <typename Visitor>
    void for_each_layer_of(const Object& object, Visitor&& visit) {
        if (object.layer != grid_layer) {
            visit(*layers_[object.layer]);
            return;
        }
        for (Layer* layer : layers_) {
            if (layer->is_filled) {
                visit(*layer);
            }
        }
    }
    [[nodiscard]] bool has_object(const Layer& layer, ObjectIndex index) const noexcept {
        const std::uint8_t of_object = objects_[index].layer;
        return layer.is_of_grid() ? of_object == grid_layer : layers_[of_object] == &layer;
    }
    [[nodiscard]] bool has_viewer(const Layer& layer, const Viewer& viewer) const noexcept {
        return !layer.is_of_grid() || layers_[viewer.layer] == &layer;
    }
    /// Every viewer that is anywhere is in the layer, too.
    void link_viewers(Layer& layer);
    /// All objects of the grid are in the layer, too.
    void fill(Layer& layer);
    /// Layers of the grid in which nobody is any more hold no objects.
    void clear_unused_layers();
    void move_objects();
    void move_viewer(std::uint32_t viewer);
    /// It may belong to another layer of the grid.
    void change_view(std::uint32_t viewer);
    void look_at_objects();
    void look_at_object(const Layer& layer, ObjectIndex index, const LatticePoint& before);
    void look_from(std::uint32_t viewer, const Layer& layer);
    void examine(const Layer& layer, std::uint32_t viewer, ObjectIndex index);
    void set_sight(std::uint32_t viewer, ObjectIndex index, bool is_in_sight);

    InterestSettings settings_;
    InterestCounters& counters_;
    MemoryResource* objects_resource_;
    MemoryResource* pairs_resource_;
    ByObject<SpatialNode> object_nodes_;
    ByObject<Object> objects_;
    BitRow due_objects_;
    bool is_object_due_ = false;
    std::uint32_t object_count_ = 0;        // that are there
    std::pmr::list<Layer> layers_storage_;  // they refer to their own members, so they stay
    Vector<Layer*> layers_;
    Vector<Viewer> viewers_;
    Vector<std::uint32_t> free_viewers_;
};

}  // namespace replayout
