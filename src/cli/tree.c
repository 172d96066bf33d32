#include "cli/tree.h"

#include "cli/ref.h"
#include "cli/screen.h"

/* Levels that are drawn; what lies deeper is indented no further. */
#define LEVELS_MAX 64

#define TEXT_SIZE 1024

/* What is put in front of a node. */
struct lines {
	const char *child, *last_child;	/* the node's own level */
	const char *open, *closed;	/* levels above: more to come, none */
};

static const struct lines unicode = {
	.child = "├── ", .last_child = "└── ", .open = "│   ", .closed = "    "
};
static const struct lines ascii = {
	.child = "|-- ", .last_child = "`-- ", .open = "|   ", .closed = "    "
};

/* ---- Text --------------------------------------------------------------- */

struct drawing {
	const struct lines *lines;
	bool closed[LEVELS_MAX];	/* whether a level had its last child */
	struct ks_buf text;
};

static void
draw_lines(struct drawing *drawing, const struct ks_tree_node *node)
{
	unsigned depth = node->depth < LEVELS_MAX ? node->depth :
		LEVELS_MAX - 1;
	unsigned level;

	if (depth == 0)
		return;
	drawing->closed[depth] = node->last;
	for (level = 1; level < depth; level++)
		ks_buf_text(&drawing->text, drawing->closed[level] ?
			drawing->lines->closed : drawing->lines->open);
	ks_buf_text(&drawing->text, node->last ? drawing->lines->last_child :
		drawing->lines->child);
}

static void
add_word(struct ks_buf *out, const char *word)
{
	char shown[TEXT_SIZE];

	if (*word != '\0')
		ks_buf_printf(out, "%s ", ks_printable(shown, sizeof(shown),
			ks_span_text(word)));
}

/* " (link, absent)": what is not as usual. */
static void
add_marks(struct ks_buf *out, const struct ks_tree_node *node)
{
	const char *state = strcmp(node->state, "archived") == 0 ? "" :
		node->state;

	if (node->is_link)
		ks_buf_printf(out, " (link%s%s)", *state == '\0' ? "" : ", ",
			state);
	else if (*state != '\0')
		ks_buf_printf(out, " (%s)", state);
	if (node->repeated)
		ks_buf_text(out, " (shown above)");
}

static void
draw_node(void *arg, const struct ks_tree_node *node)
{
	struct drawing *drawing = arg;
	struct ks_buf *out = &drawing->text;
	char digits[KS_ID_HEX + 1];
	char shown[TEXT_SIZE];

	draw_lines(drawing, node);
	add_word(out, node->path);
	add_word(out, ks_ref_kind(node->kind));
	ks_buf_text(out, ks_ref_short(&node->digest, digits));
	if (node->name[0] != '\0')
		ks_buf_printf(out, " %s", ks_printable(shown, sizeof(shown),
			ks_span_text(node->name)));
	add_marks(out, node);
	ks_buf_byte(out, '\n');
}

enum ks_status
ks_tree_print(struct ks_store *store, const struct ks_id *digest,
	struct ks_error *err)
{
	struct drawing drawing = {
		.lines = ks_screen_is_utf8() ? &unicode : &ascii,
		.text = KS_BUF_INIT
	};
	enum ks_status status = ks_reference_tree(store, digest, draw_node,
		&drawing, err);

	if (status == KS_OK)
		status = ks_buf_check(&drawing.text, err);
	if (status == KS_OK)
		ks_out_bytes(ks_buf_span(&drawing.text));
	ks_buf_release(&drawing.text);
	return status;
}

/* ---- JSON --------------------------------------------------------------- */

static void
add_node(void *arg, const struct ks_tree_node *node)
{
	struct ks_doc *doc = arg;

	ks_doc_object(doc, NULL);
	ks_doc_integer(doc, "depth", (int64_t)node->depth);
	ks_doc_text(doc, "path", node->path);
	ks_doc_digest(doc, "digest", &node->digest);
	ks_doc_text(doc, "kind", node->kind);
	ks_doc_text(doc, "name", node->name);
	ks_doc_text(doc, "state", node->state);
	ks_doc_bool(doc, "link", node->is_link);
	ks_doc_bool(doc, "repeated", node->repeated);
	ks_doc_end(doc);
}

enum ks_status
ks_tree_add(struct ks_store *store, const struct ks_id *digest,
	struct ks_doc *doc, struct ks_error *err)
{
	enum ks_status status;

	ks_doc_array(doc, "tree");
	status = ks_reference_tree(store, digest, add_node, doc, err);
	ks_doc_end(doc);
	return status;
}
