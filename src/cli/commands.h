/*
 * The commands, each one row:
 *
 *	X(identifier, "name", "operands", min, max, features, "summary")
 *
 * The function behind a row is ks_cmd_identifier() in cmd_identifier.c; a name
 * may be two words. `operands` is how usage shows them, `min` and `max` how
 * many there may be (KS_ANY: no limit), `features` which of the options that
 * commands share it takes. Adding a command is a row and its file.
 */
#ifndef KS_CLI_COMMANDS_H
#define KS_CLI_COMMANDS_H

#define KS_COMMANDS(X) \
	X(init, "init", "DIR", 1, 1, KS_HAS_JSON, \
		"make a new, empty store") \
	X(put, "put", "PATH...|-", 1, KS_ANY, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"put records in, all or nothing") \
	X(get, "get", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_AT | KS_HAS_VIEW, \
		"print the exact bytes of an object") \
	X(resolve, "resolve", "REF...", 1, KS_ANY, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_AT | KS_HAS_VIEW, \
		"print the digest that a reference means") \
	X(show, "show", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_AT | KS_HAS_VIEW, \
		"show all that is to be said of an object") \
	X(rank, "rank", "REF|KEY", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_AT | KS_HAS_VIEW, \
		"rank the runs that a run may be compared with") \
	X(compare, "compare", "REF REF...", 2, KS_ANY, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_AT | KS_HAS_VIEW, \
		"show how records of one kind differ") \
	X(list, "list", "", 0, 0, KS_HAS_STORE | KS_HAS_JSON | \
		KS_HAS_PROGRESS | KS_HAS_AT | KS_HAS_VIEW, \
		"list records, chosen by what they say") \
	X(export, "export", "", 0, 0, KS_HAS_STORE | KS_HAS_PROGRESS | \
		KS_HAS_AT | KS_HAS_VIEW, \
		"write runs as a table that other programs read") \
	X(records, "records", "", 0, 0, KS_HAS_STORE | KS_HAS_JSON | \
		KS_HAS_PROGRESS | KS_HAS_AT | KS_HAS_VIEW, \
		"tell who leads, and who led, among runs that compare") \
	X(stats, "stats", "", 0, 0, KS_HAS_STORE | KS_HAS_JSON | \
		KS_HAS_PROGRESS | KS_HAS_AT | KS_HAS_VIEW, \
		"count records, by what they say") \
	X(log, "log", "[REF] [FROM[..TO]]", 0, 2, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_AT | KS_HAS_VIEW, \
		"print entries of the log") \
	X(status, "status", "", 0, 0, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_AT | KS_HAS_VIEW, \
		"say what a store holds") \
	X(verify, "verify", "[REF...]", 0, KS_ANY, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_AT, \
		"check objects and log") \
	X(annotate, "annotate", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT, \
		"replace the metadata or provenance of an object") \
	X(retract, "retract", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT, \
		"mark an object as one that does not count") \
	X(supersede, "supersede", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT, \
		"name the object that takes another's place") \
	X(restore, "restore", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT, \
		"lift retraction and supersession") \
	X(takedown, "takedown", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT, \
		"remove the bytes of an object, by law or danger") \
	X(attest, "attest", "REF|FILE", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT | KS_HAS_VIEW, \
		"say something of a record, or check what was said") \
	X(artifact_put, "artifact put", "FILE...|-", 1, KS_ANY, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"put the bytes of files in, as they are") \
	X(artifact_get, "artifact get", "DIGEST|REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_AT | KS_HAS_VIEW, \
		"write out the bytes of such a file") \
	X(dictionary, "dictionary train", "", 0, 0, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"train a dictionary on the stored records") \
	X(key_generate, "key generate", "", 0, 0, KS_HAS_JSON, \
		"make a key that signs a log") \
	X(key_show, "key show", "FILE|KEY", 1, 1, KS_HAS_JSON, \
		"print what may be told of a key") \
	X(key_register, "key register", "VKEY|FILE", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT, \
		"register a key whose attestations count") \
	X(gc, "gc", "", 0, 0, KS_HAS_STORE | KS_HAS_WAIT, \
		"pack the repository with git") \
	X(snapshot_create, "snapshot create", "", 0, 0, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"sign the log as it is") \
	X(snapshot_list, "snapshot list", "", 0, 0, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_AT | KS_HAS_VIEW, \
		"list what was signed") \
	X(snapshot_cosign, "snapshot add-cosignature", "FILE|-", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_WAIT, \
		"take in what others signed") \
	X(snapshot_export, "snapshot export", "[SIZE]", 0, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS, \
		"write a snapshot and all that it covers to a file") \
	X(snapshot_verify, "snapshot verify", "FILE|-", 1, 1, \
		KS_HAS_JSON | KS_HAS_PROGRESS, \
		"check a snapshot file, without a store") \
	X(snapshot_import, "snapshot import", "FILE|- [DIR]", 1, 2, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"make a store of a snapshot file, or continue one") \
	X(cite, "cite", "REF", 1, 1, \
		KS_HAS_STORE | KS_HAS_AT | KS_HAS_VIEW, \
		"print how a record is cited, and prove it") \
	X(check, "check", "FILE|DIGEST...", 1, KS_ANY, \
		KS_HAS_STORE | KS_HAS_JSON, \
		"check a citation, with or without a store") \
	X(mirror_clone, "mirror clone", "URL DIR", 2, 2, \
		KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"make a mirror of a store, verified") \
	X(mirror_update, "mirror update", "", 0, 0, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"bring a mirror up to its upstream") \
	X(mirror_status, "mirror status", "", 0, 0, \
		KS_HAS_STORE | KS_HAS_JSON, \
		"say what a mirror holds") \
	X(mirror_cosign, "mirror cosign", "", 0, 0, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS | KS_HAS_WAIT, \
		"sign that the mirror holds it all") \
	X(publish, "publish", "DIR", 1, 1, \
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS, \
		"make a static directory for any web server") \
	X(canon, "canon", "FILE|-", 1, 1, 0, \
		"print the canonical bytes of a JSON text") \
	X(digest, "digest", "FILE...|-", 1, KS_ANY, KS_HAS_JSON, \
		"print the digest of every manifest in files")

#endif
