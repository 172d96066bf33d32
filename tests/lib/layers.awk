# Reports includes that point up a layer, and those of a third-party library
# outside the one module that is its home.
#
#	awk -f tests/lib/layers.awk src/*.h src/*/*.[ch]
#
# base (0) < format (1) < store (2) < kistore.h (3) < cli (4). The command line
# sees kistore.h and base only; the store implements kistore.h and includes it.

BEGIN {
	layer["base"] = 0
	layer["format"] = 1
	layer["store"] = 2
	layer["cli"] = 4
	home["git2.h"] = "^src/store/gitdb[^/]*\\.[ch]$"
	home["git2/"] = home["git2.h"]
	home["zlib.h"] = home["git2.h"]
	home["cjson/"] = "^src/cli/out[^/]*\\.c$"
	home["zstd.h"] = "^src/format/frame\\.c$"
	home["zdict.h"] = home["zstd.h"]
	home["openssl/"] = "^src/format/(digest|sshsig|ed25519)\\.c$"
	home["sqlite3.h"] = "^src/store/db\\.c$"
}

FNR == 1 {
	part = FILENAME
	sub(/^src\//, "", part)
	sub(/\/.*/, "", part)
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	target = $0
	sub(/^[^"]*"/, "", target)
	sub(/".*/, "", target)
	judge(target)
}

/^[ \t]*#[ \t]*include[ \t]*</ {
	target = $0
	sub(/^[^<]*</, "", target)
	sub(/>.*/, "", target)
	for (prefix in home)
		if (index(target, prefix) == 1 && FILENAME !~ home[prefix])
			complain("only " home[prefix] " may include <" target ">")
}

function judge(target,    to) {
	to = target
	if (to == "kistore.h") {
		if (part == "base" || part == "format")
			complain("kistore.h is above " part)
		return
	}
	if (to !~ /\//) {
		complain("write \"" target "\" from src/ on")
		return
	}
	sub(/\/.*/, "", to)
	if (!(to in layer))
		complain("there is no layer \"" to "\"")
	else if (part == "kistore.h" && to != "base" && \
	    target != "format/id.h")
		complain("the public face includes base and format/id.h only")
	else if (part == "cli" && to != "cli" && to != "base")
		complain("the command line sees kistore.h and base only")
	else if (part in layer && layer[to] > layer[part])
		complain(to " is above " part)
}

function complain(text) {
	print FILENAME ":" FNR ": " text
	bad = 1
}

END { exit bad }
