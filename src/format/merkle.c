#include "format/merkle.h"

#include "format/digest.h"

/* RFC 6962 section 2.1: the prefixes tell leaves and inner nodes apart. */
static const uint8_t leaf_prefix = 0x00;
static const uint8_t node_prefix = 0x01;

void
ks_merkle_leaf(struct ks_span entry, struct ks_id *out)
{
	ks_sha256_pair(ks_span(&leaf_prefix, 1), entry, out);
}

void
ks_merkle_node(const struct ks_id *left, const struct ks_id *right,
	struct ks_id *out)
{
	uint8_t both[1 + 2 * KS_ID_BYTES];

	both[0] = node_prefix;
	memcpy(both + 1, left->bytes, KS_ID_BYTES);
	memcpy(both + 1 + KS_ID_BYTES, right->bytes, KS_ID_BYTES);
	ks_sha256(ks_span(both, sizeof(both)), out);
}

size_t
ks_merkle_width(const struct ks_merkle *tree)
{
	uint64_t bits = tree->size;
	size_t width = 0;

	for (; bits != 0; bits &= bits - 1)
		width++;
	return width;
}

void
ks_merkle_append(struct ks_merkle *tree, const struct ks_id *leaf)
{
	size_t width = ks_merkle_width(tree);
	struct ks_id hash = *leaf;
	uint64_t bits;

	/* Adding one carries through the low one bits of size; each carry
	 * joins the last complete subtree with the new one of its size. */
	for (bits = tree->size; (bits & 1) != 0; bits >>= 1)
		ks_merkle_node(&tree->roots[--width], &hash, &hash);
	tree->roots[width] = hash;
	tree->size++;
}

void
ks_merkle_root(const struct ks_merkle *tree, struct ks_id *out)
{
	size_t width = ks_merkle_width(tree);

	if (width == 0) {
		ks_sha256(ks_span(NULL, 0), out);
		return;
	}
	*out = tree->roots[--width];
	while (width > 0)
		ks_merkle_node(&tree->roots[--width], out, out);
}
