/*
 * Where things are in a store's tree (store-layout.md, section "tree").
 */
#ifndef KS_FORMAT_LAYOUT_H
#define KS_FORMAT_LAYOUT_H

#include "base/buf.h"
#include "format/id.h"

#define KS_PATH_STORE "store.json"
#define KS_PATH_README "README.md"
#define KS_PATH_ATTRIBUTES ".gitattributes"
#define KS_PATH_CHECKPOINT "checkpoint"
#define KS_PATH_CHECKPOINTS "checkpoints"
#define KS_PATH_LOG "log"
#define KS_PATH_OBJECTS "objects"
#define KS_PATH_DICTIONARIES "dictionaries"

/* Limits on what is read (store-layout.md, section "bounds"). */
#define KS_LIMIT_STORE_JSON ((uint64_t)64 << 10)
#define KS_LIMIT_RECORD ((uint64_t)1 << 20)
#define KS_LIMIT_RAW ((uint64_t)64 << 20)
#define KS_LIMIT_FRAME (KS_LIMIT_RAW + (KS_LIMIT_RAW >> 7) + 1024)
#define KS_LIMIT_DICTIONARY ((uint64_t)1 << 20)
#define KS_LIMIT_DICTIONARIES 4096
#define KS_LIMIT_SEGMENT ((uint64_t)256 * 65536)

/* The contents of .gitattributes, and of info/attributes. */
extern const char ks_layout_attributes[];

/* "objects/c/32/52a98….zst", 78 characters. */
#define KS_OBJECT_PATH 78
char *ks_layout_object(const struct ks_id *id, char out[KS_OBJECT_PATH + 1]);

/* The id of an object whose path is objects/A/BB/NAME; false when the parts
 * are not of that form exactly. */
bool ks_layout_object_id(const char *a, const char *bb, const char *name,
	struct ks_id *id);

/* "log/000/000.jsonl", the segment that holds entry `index`. */
#define KS_SEGMENT_PATH 64
char *ks_layout_segment(uint64_t index, char out[KS_SEGMENT_PATH]);

/* The number of the segment at a path of that form (its first entry div 256);
 * false when it is of another. */
bool ks_layout_segment_number(const char *path, uint64_t *number);

/* "dictionaries/1234567890-<64 hex>.zdict". */
#define KS_DICTIONARY_PATH 96
char *ks_layout_dictionary(uint32_t id, const struct ks_id *digest,
	char out[KS_DICTIONARY_PATH]);

/* Take apart a file name in dictionaries/; false when it is not of that
 * form. */
bool ks_layout_dictionary_name(const char *name, uint32_t *id,
	struct ks_id *digest);

#endif
