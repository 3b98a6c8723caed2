"""Sensitive topics in English: what touches them, and what only sounds like it."""

import pytest

from labelhub.core.interview.sensitive import sensitive_topic

TOUCHED = {
    "health": """
I was diagnosed with diabetes last month
my doctor says I need surgery
what helps against a migraine?
I feel so depressed lately
looking for shoes because of my arthritis
I'm pregnant and need a new mattress
I have a peanut allergy, which bars are safe?
can I take ibuprofen with my antibiotics
the chemo makes me tired
my back pain is killing me
I'm in a wheelchair, is the hotel accessible?
I had a panic attack on the plane
need a machine for my asthma
is it safe to fly after a stroke
I want to lose weight before the wedding
my anxiety got worse
I've been sober for two years
my mother has dementia
I need gluten free bread, I'm celiac
I keep thinking about suicide
I tested positive for covid
my insulin has to stay cold
a cushion for my hemorrhoids
I'm deaf, do you have subtitles?
rebooking because I am in hospital
my therapist told me to buy a journal
""",
    "religion": """
I'm a Muslim and look for a prayer rug
which restaurants are halal
our church needs new chairs
I pray five times a day
a gift for my daughter's baptism, she is Catholic
is this cheese kosher
I stopped believing in god
looking for a Bible in large print
what can I eat during Ramadan
my rabbi recommended this book
I converted to Buddhism
a scarf to wear as hijab
we are Jehovah's witnesses
do you deliver to the mosque
I'm an atheist, so no Christmas cards
a dress for my first communion
our pastor retires in May
I'd like to visit a Hindu temple
gifts for a bar mitzvah
my faith helps me through this
where is the nearest synagogue
we celebrate Diwali with the family
I grew up Mormon
I left a cult last year
candles for the sabbath
I read the Quran every evening
""",
    "finance": """
I am deep in debt
I can't afford the rent any more
my salary is 2400 a month
I lost my job and need something cheap
I filed for bankruptcy last year
debt collectors keep calling me
my credit score is awful
we live on food stamps
I'm behind on my mortgage
they are going to foreclose
I owe the bank 20000
my account is overdrawn again
I took a payday loan
I'm broke until Friday
we have money problems at home
I make 15 an hour
my husband is unemployed
they denied my loan
I inherited some money from my aunt
I can't pay this bill
my student loans are crushing me
he stopped paying child support
our household income is low
I got evicted
I am living paycheck to paycheck
I owe taxes to the IRS
""",
    "sexual_life": """
I'm gay and travel with my husband
which condoms are the thinnest
my wife cheated on me
a vibrator for beginners
I have no libido any more
I came out to my friends
we are two lesbians looking for a hotel
I slept with my boss
I am still a virgin
is viagra safe
I think I'm bisexual
a lubricant, lube or gel
I'm having an affair
we want to try a threesome
erectile problems, erection does not last
how do I delete my porn history
I'm transgender and need new shirts
I was raped
a hotel for swingers
my boyfriend and I have bad sex
I met him on Grindr
sex toys for couples
she sent me nudes
lingerie for him, I have a fetish
he wants BDSM and I don't
my gender identity is nobody's business
""",
    "politics": """
I voted for Trump
I am a member of the Labour Party
who should I vote for
I'm going to a protest on Saturday
a flag for the election party
the government ruins this country
I hate Republicans
I'm a socialist
books about communism, I believe in it
the prime minister lies
flyers for our trade union
I support Palestine
I was against Brexit
a T-shirt for Black Lives Matter
we are on strike at work
I'm a feminist
my uncle is a senator
far right people moved in next door
the new immigration policy scares me
I applied for asylum
I donate to the Democrats
I don't trust politicians
is Biden too old
I signed up for the referendum campaign
the death penalty is wrong
gun control now
""",
    "minors": """
a present for my 5 year old
my son needs new shoes
I'm 14 and want a phone
I am only 12
my daughter starts school in August
a bike for a nine year old girl
my toddler does not sleep
I'm in seventh grade
do you have a crib for our baby
my parents won't let me
my nephew turns 8 tomorrow
my grandchildren visit in July
I am underage, may I order?
headphones for my teenager
our kids hate the beach
he is my 10yo and loves Lego
my teacher gave us homework
her daughter is bullied
what do babies eat, my baby is six months
I'm still a minor
a costume for my little brother
my stepson refuses to talk
games for a 7 year old boy
I am in high school
my kid broke the tablet
the foster child we took in
""",
}
UNTOUCHED = {
    "health": """
I'm sick of this website
the heart of the city please
a computer virus deleted my files
it wouldn't hurt to ask
my phone has a broken screen
the button is disabled
who plays in Doctor Who
a medicine ball of 5 kg
I'm addicted to this show
window blinds in grey
the screen is tiny
I need a new battery
how healthy is the battery of the phone
a cable of two meters
the music hurts nobody
I'll pick it up at six
can you fix the printer
blood oranges, one kilo
kidney beans in a can
running shoes size 42
which yoga mat is best
a painless way to cancel
a lightning stroke of luck
the train was late
a bigger bed please
""",
    "religion": """
oh my god, it is late again
thank god it works
holy cow, that is fast
temple run for android
a hotel in Church Street
I need the confirmation email
confirmation number 4711
jesus christ superstar tickets
a cult classic on DVD
easter eggs made of chocolate
a Christmas tree for the living room
what is the convert function
convert 5 miles to km
a service for twelve people
mass production
holiday in Spain
soul music please
a spirit level
hotel in Santa Barbara
an angel investor's guide
a devil of a job
paradise beach resort
the priceless edition
monk fish recipes
I believe it was Tuesday
""",
    "finance": """
cheap flights to Rome
how much is the blue one
I want a refund
the price is too high
transfer 50 euros to Tom
what is the exchange fee
my card was declined
when does my card arrive
open a savings account
how do I top up
is there a discount
a hotel for under 100 euros
the ATM swallowed my card
which currencies do you support
I paid twice
block my card
what are your fees
the money has not arrived
a money belt
set up a direct debit
can I pay by invoice
show my last transactions
the zip broke
my phone broke down
a bargain laptop
""",
    "sexual_life": """
a unisex perfume
extra virgin olive oil
Virgin Atlantic flight to Boston
with the naked eye
sex and the city box set
a Ford Escort from 1990
a double room for two
gifts for my wife
a dress for the evening
my husband wants a bike
we get married in June
a romantic dinner
flowers for my girlfriend
a red lipstick
swimming trunks
massage chair
intimidating prices
a straight cable
a bed for two
transport to Essex
dating back to 1800
a date in March
he is handsome
the adapter has a male plug
a kiss lock purse
""",
    "politics": """
a dress for the party
birthday party food
strike price of the option
a trump card
the sign in the left corner
turn right at the light
vote for the best photo app
the president hotel
a war movie
games with war in space
labour costs of the repair
green shoes
a red sofa
congratulations to the team
liberal refund rules
the party size pizza
who leads the band
is this state of the art
the right size
a left handed mouse
lightning strikes
party hats
minister street 5
house prices
a power bank
""",
    "minors": """
a room for 2 adults and 2 kids
my 5 year old laptop
a 12 year old whisky
I'm 15 minutes away
I am 40 years old
kids menu
baby carrots
a table for seven
5 years warranty
the 3 year plan
shoes in size 7
my wife and I
a child seat
I'm 5 km from the hotel
I am 30 and bored
new kids on the block
page 12 of the manual
for 10 people
my boss is 50 years old
a school bag in blue
10 days in Rome
my brother's car
gate 9
a family ticket
babysitter movies of the nineties
""",
}


def cases(examples: dict[str, str]) -> list[tuple[str, str]]:
    """Each example with its topic."""
    return [
        (topic, line) for topic, lines in examples.items() for line in lines.strip().splitlines()
    ]


@pytest.mark.parametrize(("topic", "text"), cases(TOUCHED))
def test_a_sensitive_topic_is_noticed(topic: str, text: str) -> None:
    assert sensitive_topic(text) is not None


@pytest.mark.parametrize("topic", TOUCHED)
def test_it_is_mostly_called_by_its_name(topic: str) -> None:
    """A message may touch several; the first that needs care is told."""
    lines = TOUCHED[topic].strip().splitlines()
    found = [sensitive_topic(line) for line in lines]
    assert sum(each is not None and each.topic == topic for each in found) >= 0.85 * len(lines)


@pytest.mark.parametrize(("topic", "text"), cases(UNTOUCHED))
def test_what_only_sounds_like_it_is_not(topic: str, text: str) -> None:
    assert sensitive_topic(text) is None


@pytest.mark.parametrize("examples", [TOUCHED, UNTOUCHED])
def test_there_are_enough_examples(examples: dict[str, str]) -> None:
    assert all(len(lines.strip().splitlines()) >= 25 for lines in examples.values())
