"""Splits a text of SQL into statements with the lexer of the Spark that runs them. See ADR 0056."""

from py4j.java_gateway import JavaClass, get_field

BYTE_ORDER_MARK = "\ufeff"

PARSER = "org.apache.spark.sql.catalyst.parser."
ANTLR = "org.antlr.v4.runtime."


def class_of(jvm, name):
    """Returns a class of the JVM by its full name. Py4J's attributes would search all jars for each part of the name."""
    return JavaClass(name, jvm._gateway_client)


def statements(jvm, text):
    """Returns each statement from its first word, with the line (from 1) and the position in the line (from 0) where it starts."""
    text = text[1:] if text.startswith(BYTE_ORDER_MARK) else text
    lexer_class = class_of(jvm, PARSER + "SqlBaseLexer")
    characters = class_of(jvm, ANTLR + "CharStreams").fromString(text)
    lexer = lexer_class(class_of(jvm, PARSER + "UpperCaseCharStream")(characters))
    # The parser reports the same errors again.
    lexer.removeErrorListeners()
    tokens = class_of(jvm, ANTLR + "CommonTokenStream")(lexer)
    tokens.fill()
    last = tokens.size() - 1
    # Only semicolons are read, because each access to a token is a call to the JVM.
    semicolons = tokens.getTokens(0, last, lexer_class.SEMICOLON) or []
    ends = [(token.getTokenIndex(), token.getStartIndex()) for token in semicolons]
    found = []
    line, line_begin, counted, after = 1, 0, 0, 0

    def add(begin, end):
        nonlocal line, line_begin, counted
        line += text.count("\n", counted, begin)
        line_begin = max(line_begin, text.rfind("\n", counted, begin) + 1)
        counted = begin
        found.append((line, begin - line_begin, text[begin:end].rstrip()))

    for index, end in ends + [(last, len(text))]:
        # Skips whitespace and comments, which the parser does not see either.
        tokens.seek(after)
        after = index + 1
        if tokens.index() < index:
            add(tokens.get(tokens.index()).getStartIndex(), end)
    rest = ends[-1][1] + 1 if ends else 0
    if get_field(lexer, "has_unclosed_bracketed_comment") and (not found or counted < rest):
        # An unclosed comment becomes a statement, so that the parser reports it.
        add(rest + len(text[rest:]) - len(text[rest:].lstrip()), len(text))
    return found
