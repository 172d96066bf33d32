#include "cli/out_key.h"

#include "cli/out.h"

enum ks_status
ks_out_key_json(const struct ks_key_info *info, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("key");

	ks_doc_text(doc, "name", info->name);
	ks_doc_text(doc, "keyId", info->id);
	ks_doc_text(doc, "vkey", info->vkey);
	ks_doc_text(doc, "ssh", info->ssh);
	ks_doc_text(doc, "fingerprint", info->fingerprint);
	ks_doc_text(doc, "pem", info->pem);
	return ks_doc_write(doc, err);
}
