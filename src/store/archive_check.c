/*
 * Checking a snapshot file, without a store.
 */
#include "store/archive.h"

enum ks_status
ks_snapshot_verify(const char *path, const struct ks_file_options *options,
	struct ks_file_result *result, struct ks_error *err)
{
	struct ks_archive archive = { .options = options, .result = result };
	enum ks_status status = ks_archive_read(&archive, path, err);

	if (status == KS_OK)
		status = ks_archive_accept(&archive, err);
	ks_archive_release(&archive);
	return status;
}
