#include "overlap.hpp"

#include <algorithm>

#include "checks.hpp"

namespace postil {
namespace {

struct Scratch {
  std::vector<uint64_t> present;  // a bit for each id: is it in the candidate? Small enough to stay in the nearest cache
  std::vector<int32_t> unit;      // of each id; read only where the bit is set
  std::vector<Hit> found;
};

}  // namespace

void Overlap::build(int jobs) {
  check_texts(candidates, "expected candidates as words from 0 and offsets of texts");
  check_texts(references, "expected references as words from 0 and offsets of texts");
  check_offsets(set_offsets, references.count(), "expected offsets of the sets of references");
  require(sets.size == count(), "expected a set of references for each candidate");
  check_places(sets, set_offsets.size - 1, "expected sets of references that there are");
  for (int64_t i = 0; i < sets.size; ++i) {
    require(set_offsets[sets[i]] < set_offsets[sets[i] + 1], "expected a reference in each set");
  }
  int32_t top = 0;
  for (int64_t i = 0; i < candidates.ids.size; ++i) top = std::max(top, candidates.ids[i]);
  for (int64_t i = 0; i < references.ids.size; ++i) top = std::max(top, references.ids[i]);

  const int64_t n = count();
  blocks.resize(block_count(n));
  auto make = [top] {
    Scratch scratch;
    scratch.present.assign(top / 64 + 1, 0);
    scratch.unit.resize(static_cast<size_t>(top) + 1);
    return scratch;
  };
  for_each_block(static_cast<int64_t>(blocks.size()), jobs, make, [&](Scratch& scratch, int64_t b) {
    OverlapBlock& block = blocks[b];
    const int64_t first = b * kBlock, last = std::min(n, first + kBlock);
    block.hit_begin.push_back(0);
    uint64_t* present = scratch.present.data();
    for (int64_t row = first; row < last; ++row) {
      const int32_t* words = candidates.ids.data + candidates.begin(row);
      const int32_t length = candidates.length(row);
      int32_t units = 0;
      for (int32_t i = 0; i < length; ++i) {
        const int32_t id = words[i];
        if (!(present[id >> 6] >> (id & 63) & 1)) {
          present[id >> 6] |= 1ull << (id & 63);
          scratch.unit[id] = units++;
        }
        block.units.push_back(scratch.unit[id]);
      }
      block.unit_count.push_back(units);
      for (int64_t r = set_offsets[sets[row]]; r < set_offsets[sets[row] + 1]; ++r) {
        const int32_t* reference = references.ids.data + references.begin(r);
        const int32_t size = references.length(r);
        if (scratch.found.size() < static_cast<size_t>(size) + 1) scratch.found.resize(size + 1);
        Hit* end = scratch.found.data();
        for (int32_t t = 0; t < size; ++t) {  // write always, advance on a hit: no branch to guess wrong
          const int32_t id = reference[t];
          *end = {t, id};
          end += present[id >> 6] >> (id & 63) & 1;
        }
        for (Hit* hit = scratch.found.data(); hit != end; ++hit) hit->unit = scratch.unit[hit->unit];
        block.hits.insert(block.hits.end(), scratch.found.data(), end);
        block.hit_begin.push_back(static_cast<int64_t>(block.hits.size()));
      }
      for (int32_t i = 0; i < length; ++i) present[words[i] >> 6] = 0;
    }
  });
}

}  // namespace postil
