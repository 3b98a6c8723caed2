"""What is left alone without a model, in any language."""

from labelhub.core.interview.screening import screen

TRACE = """Traceback (most recent call last):
  File "/app/views.py", line 10, in get
    return render(request)
TypeError: render() missing 1 required positional argument"""
CODE = """const total = items.reduce((a, b) => a + b, 0);
for (let i = 0; i < 10; i++) {
  console.log(i);
}"""
LOG = "2026-11-02 10:00:01 ERROR worker failed\n2026-11-02 10:00:02 ERROR worker failed again"
DROPPED = {
    "empty": ["", "   ", "?!", "🙂"],
    "too_short": ["ok", "hello", "Danke!", "はい", "broken"],
    "machine_like": [
        *("asdfghjkl", "qwe asd zxc", "jajsjdhaksjd", "sdfkjhsdkfjh skdjfhksjdf", "aaaaaaaaaa"),
        *("x" * 80, "buy buy buy buy buy buy buy", "one two three " * 5, TRACE, CODE, LOG),
        "Dear {{name}}, your order is here",
        "java.lang.NullPointerException: null\n  at com.shop.Cart.total(Cart.java:41)",
        "Exception in thread main java.io.IOException at com.shop.Cart.load(Cart.java:41)",
        "panic: runtime error: index out of range [7] with length 2 goroutine 1 [running]",
        '{"order": 17, "items": ["lamp", "tent"], "paid": true}',
        '<div class="price"><span>12</span></div>',
        "insert into lamps (id, name) values (1, 'bulb');",
        "Uncaught ReferenceError: cart is not defined at checkout.js:42:13",
        'level=warn ts=2026-01-01T10:00:00Z msg="slow query" took=3s',
        "for lamp in range(10): print(lamp)",
        "npm ERR! code E404 lamp-shade is not in the registry",
    ],
    "spam": [
        "Great deals at https://a.example and https://b.example",
        "Write me on t.me/deals for cheap watches",
        "Visit www.shop.example or call +1 555 123 45 67 89",
    ],
    "overlong": [" ".join(f"The lamp number {at} is far too bright for me." for at in range(99))],
}  # fmt: skip
PASSED = [
    "I need a cheap laptop", "my old one broke", "Mein Akku ist tot", "青い傘が欲しい",
    "أريد هاتفا جديدا",
    "Is the shoe at https://shop.example/a in stock?", "why why why is it so slow",
    "The TypeError: message in your app scares me, what shall I do?",
    "rhythm games please",
    "I was charged 20 dollars twice for the same order, please help", "Der Strumpf ist es wert",
    "for the party we need 12 chairs, if you have them", "if you have it: please (thanks)",
    "Error when I pay with my card", "budget = 50 dollars at most",
    "price<=200, size 42/43, dark-blue :)", "6 chair(s) and/or a bench (oak)",
    "Schuh(e) für Kunde(n) gesucht", "budget=200, delivery=fast", "My app says 'Error: no card'",
    "looking for: tent, lamp; must be light", "iPhone 15 --> which case? <3",
]  # fmt: skip


def test_what_says_nothing_is_left_alone() -> None:
    wrong = {
        text[:60]: screen(text).reason
        for reason, texts in DROPPED.items()
        for text in texts
        if screen(text).reason != reason
    }
    assert wrong == {}


def test_what_says_something_passes() -> None:
    assert {text: screen(text).reason for text in PASSED if not screen(text).passed} == {}


def test_the_same_again_is_not_asked_about_twice() -> None:
    assert screen("A tent, please!", recent=["a tent please"]).reason == "repeated"
    assert screen("A tent, please!", recent=["a red tent please"]).passed


def test_a_hostile_text_is_screened_at_once() -> None:
    for text in ("(" * 50_000, "a " * 50_000, "\u0301" * 50_000, "x=" * 20_000):
        assert screen(text).reason in {"empty", "machine_like", "overlong"}
