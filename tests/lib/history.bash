# shellcheck shell=bash
# What a repository holds of a text, in all of its history and beyond: load
# ../lib/history.

# everything STORE: all git objects, whatever leads to them.
everything() {
	git -C "$1" cat-file --batch-all-objects --batch --unordered
}

# The same, and what is in frames. Dictionaries stay (T16).
texts() {
	git -C "$1" cat-file --batch-all-objects --batch-check --unordered |
		grep -vF "$(git -C "$1" ls-tree -r HEAD dictionaries/ |
			sed 's/.*blob \([0-9a-f]*\).*/\1/' | grep . ||
			echo none)" >objects
	cut -d' ' -f1 objects | git -C "$1" cat-file --batch
	grep ' blob ' objects | while read -r id _; do
		git -C "$1" cat-file blob "$id" | zstd -qdc 2>/dev/null || true
	done
}

# found STORE TEXT…, gone STORE TEXT…: in git objects, packed and loose.
found() {
	local store=$1 text
	shift
	texts "$store" >all
	for text; do
		grep -qaF -- "$text" all || { echo "not there: $text"; return 1; }
	done
}

# Nor in any other file, the index and git's own among them.
gone() {
	local store=$1 text
	shift
	texts "$store" >all
	for text; do
		! grep -qaF -- "$text" all || { echo "there: $text"; return 1; }
		! grep -rlaF -- "$text" "$store" || return 1
	done
}
