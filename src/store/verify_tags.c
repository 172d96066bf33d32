#include <stdio.h>

#include "format/gittag.h"
#include "store/revision.h"
#include "store/verify.h"

#define PREFIX "snapshot/"

/* One tag, which is what store-layout.md S4 says or refused. */
struct tag {
	struct ks_verifying *verifying;
	uint64_t size;
	struct ks_git_tag parts;
};

/* The message is a note over the log, of the size that the name says. */
static enum ks_status
check_note(const struct tag *tag, struct ks_error *err)
{
	struct ks_checkpoint checkpoint;
	struct ks_id root;
	enum ks_status status = ks_checkpoint_of_note(tag->parts.message,
		&checkpoint, err);

	if (status != KS_OK)
		return status;
	if (checkpoint.size != tag->size)
		return ks_fail(err, KS_CORRUPT, "its note is of size %llu "
			"(S4)", (unsigned long long)checkpoint.size);
	if (ks_checkpoints_find(&tag->verifying->signed_.notes, tag->size) ==
		NULL)
		return ks_fail(err, KS_CORRUPT, "there is no "
			KS_PATH_CHECKPOINTS "/%llu: the store does not know "
			"this snapshot (S4)", (unsigned long long)tag->size);
	if (!ks_signed_root(&tag->verifying->signed_, tag->size, &root) ||
		!ks_id_equal(&root, &checkpoint.root))
		return ks_fail(err, KS_CORRUPT,
			"its note is not of this log (S4)");
	return KS_OK;
}

/* The commit that it names has a log of exactly that size. */
static enum ks_status
check_commit(const struct tag *tag, struct ks_error *err)
{
	struct ks_gitdb *db = tag->verifying->store->db;
	struct ks_git_commit commit;
	struct ks_oid oid;
	char hex[KS_OID_HEX + 1];
	uint64_t size = 0;
	enum ks_status status;

	(void)snprintf(hex, sizeof(hex), "%.*s", (int)tag->parts.object.len,
		(const char *)tag->parts.object.data);
	if (!ks_oid_parse(&oid, hex))
		return ks_fail(err, KS_CORRUPT, "names no commit (S4)");
	status = ks_gitdb_commit(db, &oid, &commit, err);
	if (status == KS_OK)
		status = ks_revision_log_size(db, &commit.tree, &size, err);
	if (status == KS_OK && size != tag->size)
		status = ks_fail(err, KS_CORRUPT, "the log of its commit has "
			"%llu entries (S4)", (unsigned long long)size);
	return status;
}

static enum ks_status
check_signature(const struct tag *tag, struct ks_error *err)
{
	const struct ks_log_key *key = ks_signed_key(&tag->verifying->signed_,
		tag->size);

	if (key == NULL)
		return ks_fail(err, KS_CORRUPT, "the log names no key (S3)");
	return ks_git_tag_verify(&tag->parts, &key->vkey.key, err);
}

static enum ks_status
check_bytes(struct tag *tag, const char *name, struct ks_span bytes,
	struct ks_error *err)
{
	char shown[200];
	enum ks_status status;

	if (!ks_checkpoint_read_number(ks_span_text(name + strlen(PREFIX)),
		&tag->size))
		return ks_fail(err, KS_CORRUPT, "its name is not " PREFIX
			"SIZE (S4)");
	status = ks_git_tag_read(bytes, &tag->parts, err);
	if (status != KS_OK)
		return status;
	if (!ks_span_is(tag->parts.name, name))
		return ks_fail(err, KS_CORRUPT, "the tag says that it is %s "
			"(S4)", ks_printable(shown, sizeof(shown),
			tag->parts.name));
	status = check_note(tag, err);
	if (status == KS_OK)
		status = check_commit(tag, err);
	return status == KS_OK ? check_signature(tag, err) : status;
}

/* A tag that a writer has made since the store was opened is of a state that is
 * not the one judged here. The branch moves before the tag is made. */
static bool
has_moved(const struct ks_store *store)
{
	struct ks_git_head head;

	return ks_gitdb_head(store->db, &head, NULL) == KS_OK &&
		!ks_oid_equal(&head.commit, &store->head.commit);
}

static enum ks_status
check_tag(void *arg, const char *name, const struct ks_oid *oid,
	struct ks_error *err)
{
	struct tag tag = { .verifying = arg };
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_error why = KS_ERROR_INIT;
	char path[KS_ERROR_MESSAGE_MAX], shown[300];
	enum ks_status status = ks_oid_is_zero(oid) ? ks_fail(&why, KS_CORRUPT,
		"is a symbolic reference, not a tag (S4)") :
		ks_gitdb_tag_read(tag.verifying->store->db, oid,
			KS_GIT_TAG_MAX, &bytes, &why);

	if (status == KS_OK)
		status = check_bytes(&tag, name, ks_buf_span(&bytes), &why);
	ks_buf_release(&bytes);
	if (status != KS_OK && status != KS_IO && status != KS_NOMEM &&
		has_moved(tag.verifying->store)) {
		(void)snprintf(path, sizeof(path), "refs/tags/%s not checked: "
			"the branch has moved meanwhile", ks_printable(shown,
			sizeof(shown), ks_span_text(name)));
		ks_verify_leave_out(tag.verifying, path);
		return KS_OK;
	}
	tag.verifying->result->tags++;
	if (status == KS_OK)
		return KS_OK;
	(void)snprintf(path, sizeof(path), "refs/tags/%s", ks_printable(shown,
		sizeof(shown), ks_span_text(name)));
	/* A key that is not the one is as bad as a signature that is not. */
	if (status == KS_UNTRUSTED || status == KS_UNSUPPORTED)
		status = KS_CORRUPT;
	status = ks_verify_report_error(tag.verifying, status, NULL, path,
		&why);
	return status == KS_OK ? KS_OK : ks_fail(err, status, "%s",
		why.message);
}

enum ks_status
ks_verify_tags(struct ks_verifying *verifying, struct ks_error *err)
{
	/* A past state is judged by itself: tags may be of later ones. */
	if (verifying->store->in_the_past)
		return KS_OK;
	return ks_gitdb_tags(verifying->store->db, PREFIX, check_tag,
		verifying, err);
}
