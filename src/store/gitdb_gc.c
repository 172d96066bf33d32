#include "store/gitdb_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The packs that are open went away. */
static enum ks_status
reopen(struct ks_gitdb *db, struct ks_error *err)
{
	int rc = git_odb_refresh(db->odb);

	return rc < 0 ? ks_git_fail(err, rc, KS_IO, "%s", db->objects) : KS_OK;
}

enum ks_status
ks_gitdb_gc(struct ks_gitdb *db, struct ks_error *err)
{
	static const char *const words[] = { "gc", "--quiet", NULL };
	const struct ks_git_channels channels = KS_GIT_NO_CHANNELS;
	enum ks_status status = ks_git_run(db, "gc", words, &channels, err);

	return status == KS_OK ? reopen(db, err) : status;
}

/* A pack that a git which died was writing: git itself does not remove it. */
static void
remove_unfinished(const struct ks_gitdb *db)
{
	char *packs = ks_git_join(db->objects, "pack");

	if (packs != NULL)
		ks_git_remove_below(packs, ".tmp-");
	free(packs);
}

enum ks_status
ks_gitdb_prune(struct ks_gitdb *db, bool afresh, int lock,
	struct ks_error *err)
{
	static const char *const reflog[] = { "reflog", "expire",
		"--expire=now", "--expire-unreachable=now", "--all", NULL };
	/* What git would keep for its size, or as cruft, goes as well. The
	 * bounds of an aggressive gc are those of any other. The store's lock
	 * is held, so that a gc.pid is of one that died, whose number another
	 * process may have got. */
	const char *gc[] = { "-c", "gc.bigPackThreshold=0", "-c",
		"gc.cruftPacks=false", "-c", "gc.aggressiveWindow=10", "-c",
		"gc.aggressiveDepth=50", "gc", "--quiet", "--force",
		"--prune=now",
		afresh ? "--aggressive" : NULL, NULL };
	struct ks_git_channels channels = KS_GIT_NO_CHANNELS;
	enum ks_status status;

	channels.lock = lock;
	status = ks_git_run(db, "reflog", reflog, &channels, err);
	if (status == KS_OK)
		status = ks_git_run(db, "gc", gc, &channels, err);
	if (status == KS_OK)
		remove_unfinished(db);
	return status == KS_OK ? reopen(db, err) : status;
}

enum ks_status
ks_gitdb_delete_refs(struct ks_gitdb *db, struct ks_span commands, int lock,
	struct ks_error *err)
{
	static const char *const words[] = { "update-ref", "--stdin", NULL };
	struct ks_git_channels channels = KS_GIT_NO_CHANNELS;
	enum ks_status status = ks_git_scratch(db, commands, &channels.input,
		err);

	channels.lock = lock;
	if (status == KS_OK)
		status = ks_git_run(db, "update-ref", words, &channels, err);
	if (channels.input >= 0)
		(void)close(channels.input);
	return status;
}

enum ks_status
ks_gitdb_pack(struct ks_gitdb *db, int revisions, int pack,
	struct ks_error *err)
{
	static const char *const words[] = { "pack-objects", "--revs",
		"--stdout", "--delta-base-offset", "--quiet", NULL };
	struct ks_git_channels channels = KS_GIT_NO_CHANNELS;

	channels.no_grafts = true;
	channels.input = revisions;
	channels.output = pack;
	return ks_git_run(db, "pack-objects", words, &channels, err);
}

enum ks_status
ks_gitdb_index_pack(struct ks_gitdb *db, const char *pack, const char *index,
	struct ks_error *err)
{
	const char *words[] = { "-c", "pack.writeReverseIndex=false",
		"index-pack", "-o", index, pack, NULL };
	const struct ks_git_channels channels = KS_GIT_NO_CHANNELS;

	return ks_git_run(db, "index-pack", words, &channels, err);
}

bool
ks_gitdb_is_precious(struct ks_gitdb *db)
{
	git_config *config = NULL;
	int precious = 0;

	if (git_repository_config_snapshot(&config, db->repo) == 0 &&
		git_config_get_bool(&precious, config,
			"extensions.preciousobjects") < 0)
		precious = 0;
	git_config_free(config);
	return precious != 0;
}

void
ks_gitdb_untouched(struct ks_gitdb *db, ks_git_name_fn *visit, void *arg)
{
	char *packs = ks_git_join(db->objects, "pack");
	char *alternates = ks_git_join(db->objects, "info/alternates");
	DIR *dir = packs == NULL ? NULL : opendir(packs);
	const struct dirent *entry;
	char name[300];

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (!ks_git_ends_in(entry->d_name, ".keep"))
			continue;
		(void)snprintf(name, sizeof(name), "objects/pack/%s",
			entry->d_name);
		visit(arg, name);
	}
	if (dir != NULL)
		(void)closedir(dir);
	if (alternates != NULL && access(alternates, F_OK) == 0)
		visit(arg, "objects/info/alternates");
	free(packs);
	free(alternates);
}
