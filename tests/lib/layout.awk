# Reports what every file of code must not have: lines of more than 80 columns
# (a tab goes to the next multiple of 8; 100 in tests, whose names are
# sentences), blanks at the end of a line, and
# indentation by blanks. The rest of the layout is by hand.
#
#	awk -f tests/lib/layout.awk FILE…

function complain(text) {
	print FILENAME ":" FNR ": " text
	bad = 1
}

# Columns, not bytes: awk may count either, so continuation bytes of UTF-8
# are taken out first.
function width(line,    part, count, i, columns) {
	gsub(/[\200-\277]/, "", line)
	count = split(line, part, "\t")
	columns = 0
	for (i = 1; i <= count; i++) {
		columns += length(part[i])
		if (i < count)
			columns += 8 - columns % 8
	}
	return columns
}

width($0) > (FILENAME ~ /^tests\// ? 100 : 80) {
	complain("longer than the limit of columns")
}
/[ \t]$/ { complain("blanks at the end of the line") }
/^ +[^ *]/ { complain("indented by blanks") }

END { exit bad }
