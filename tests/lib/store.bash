# What the tests of commands that need a store load after common: a small
# store, and the means to damage it.

SEEDS=$REPO/fixtures/seeds/closure/000
RUN=sha256:c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6
PROJECT=sha256:1e8503b1cc39e8fe9d5242242de945ada0ed98cac96889f952cc7459d2de9da9
WORKLOAD=sha256:c66457140cb6cfc6fdcb24a3187286a041f2b04f37522e1bd65089aacf4cd0f3
OPERATION=sha256:e655a95629867bb20ea2d0e6b41bbde013db93f7fca6deb9a49b6ee8b4bc31a5
# Of the log that the seeds make (store-layout.md, "Worked examples").
ROOT=sha256:d178a78a02f6b8f2694c6b269047a80a1065656d2703996d5b462e997d2ac9d4
export SEEDS RUN PROJECT WORKLOAD OPERATION ROOT

# use_store DIR: what kistore and the functions here work on.
use_store() {
	export SOURCE_DATE_EPOCH=1787000000 KISTORE_DIR=$PWD/$1
}

# An empty store, demo.git, which commands then use.
empty_store() {
	use_store demo.git
	kistore init demo.git >/dev/null
}

# The store of the worked examples: seven records, eight entries.
seed_store() {
	once seeds fill_store
	use_store demo.git
}

fill_store() {
	empty_store
	kistore -q put "$SEEDS"/*.json >/dev/null
}

commit_id() {
	git -C "$KISTORE_DIR" rev-parse HEAD
}

# object_path DIGEST
object_path() {
	local hex=${1#sha256:}
	echo "objects/${hex:0:1}/${hex:1:2}/${hex:3}.zst"
}

# replace PATH FILE: commit FILE in place of what the tree has at PATH, with
# stock git. remove PATH: take it out.
replace() {
	local blob
	blob=$(git -C "$KISTORE_DIR" hash-object -w --stdin <"$2")
	commit_index --add --cacheinfo "${3:-100644},$blob,$1"
}

remove() {
	commit_index --index-info <<-END
	0 $(printf '%040d' 0)	$1
	END
}

commit_index() {
	local index=$BATS_TEST_TMPDIR/index tree commit
	rm -f "$index"
	GIT_INDEX_FILE=$index git -C "$KISTORE_DIR" read-tree HEAD
	GIT_INDEX_FILE=$index git -C "$KISTORE_DIR" update-index "$@"
	tree=$(GIT_INDEX_FILE=$index git -C "$KISTORE_DIR" write-tree)
	commit=$(git -C "$KISTORE_DIR" commit-tree -p HEAD -m damage "$tree")
	git -C "$KISTORE_DIR" update-ref HEAD "$commit"
}
