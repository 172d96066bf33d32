/* kistore's own kinds: what KernelIndex keeps in rows of a database
 * (store-layout.md, section "kinds"). */
#include "format/kind_table.h"
#include "format/statement.h"

static const struct ks_field source_fields[] = {
	REQUIRED("kind", TOKEN),
	REQUIRED("name", STRING(200)),
	OPTIONAL("policy", FREE_OBJECT),
	REQUIRED("slug", SLUG),
};

const struct ks_kind ks_kind_source = {
	KIND(KS_API_KISTORE, "Source"),
	.spec = OBJECT(source_fields),
	.is_mutable_row = true,
	.metadata_optional = true,
};

/* Describes bytes that may or may not be archived. */
static const struct ks_field artifact_fields[] = {
	REQUIRED("digest", LINK),
	REQUIRED("kind", TOKEN),
	OPTIONAL("license", STRING(200)),
	REQUIRED("mediaType", STRING(200)),
	OPTIONAL("name", STRING(500)),
	REQUIRED("sizeBytes", INTEGER_FROM(0)),
	REQUIRED("storage", TOKEN),
	OPTIONAL("uri", STRING(2000)),
};

const struct ks_kind ks_kind_artifact = {
	KIND(KS_API_KISTORE, "Artifact"),
	.spec = OBJECT(artifact_fields),
	.is_mutable_row = true,
	.metadata_optional = true,
};

/* A DSSE envelope around an in-toto Statement about one record. */
static const struct ks_field signature_fields[] = {
	OPTIONAL("keyid", STRING(ANY_TEXT)),
	REQUIRED("sig", BASE64),
};

static const struct ks_field envelope_fields[] = {
	REQUIRED("payload", STATEMENT),
	REQUIRED("payloadType", ONE_OF(KS_STATEMENT_PAYLOAD_TYPE)),
	REQUIRED("signatures", LIST_OF(OBJECT(signature_fields), 1, 16)),
};

static const struct ks_field attestation_fields[] = {
	REQUIRED("envelope", OBJECT(envelope_fields)),
};

const struct ks_kind ks_kind_attestation = {
	KIND(KS_API_KISTORE, "Attestation"),
	.spec = OBJECT(attestation_fields),
	.metadata_optional = true,
};
