"""English messages of each kind as people type them, written for the tests of screening."""

PROBES = {
    ("en", "request"): """
I need a warm lamp for my tent, call 0171 2345678|Ring me on 07700 900123 when the parcel is there
A tent for two under 150, please|running shoes size 42|wireless earbuds with noise cancelling
coffee machine under 200 euros|Winter jacket for kids|Neue Schuhe|Red Dress|Gaming Laptop
Baby Stroller|Dining Table for six please|a gift for my dad|gluten free bread recipes
usb c cable 2m|phone with good camera|black jeans slim fit|2 bedroom flat near the station
size 10 boots in brown|something warm for hiking|vegan protein powder please
a quiet room on the top floor please|hotel with pool in Lisbon|train to Leeds tomorrow morning
table for four at 8 tonight with a view|ideas for a birthday party
a birthday present for my sister under 30|Leather Wallet|iPhone 15 case blue
cheaper alternative to airpods|one way ticket to Oslo|headphones for the gym, under 80 please
Small Desk|Bluetooth Speaker|where can i park|is breakfast included|do you ship to canada
my card got declined twice|the app keeps freezing on login|i'd like to change my pin
how do i activate my new card|what are the opening hours|can i get an extra pillow
the shower is leaking|write a short poem about autumn
summarize this article in three sentences|yes but can we do it on friday instead
no, i meant the blue one with the hood|thanks, and how long is delivery?
hi do you have gluten free pizza|hello, my parcel hasn't shown up
ok then show me the cheapest one|what's the difference between oled and qled
i want to get a refund for the shoes|transfer 50 to my savings|set an alarm for six
laptop for video editing|help me pick a mattress|best running watch|size guide|return policy
opening hours|student discount|delivery time to Spain|vegan options?|late checkout possible?
gift wrapping?|compare these two phones|i need something for dry skin
rice cooker for one person|waterproof backpack 30l|wedding guest outfit ideas|please cancel it
lost luggage at the airport|room service please|extra towels please|wake up call at 7 please
taxi to the airport at 5 am|dog friendly hotel in Bath|A desk lamp for reading, please
trail running vest|wool socks men size 44|Cotton Bed Sheets|Electric Kettle
bike helmet for my kid|Mountain Bike under 900|soy milk alternatives
flights from Cork to Rome in May|non smoking room with balcony
four tickets for saturday please|a bag to carry on the plane
sneakers like the ones on the poster|lightweight tripod under 60|Office Chair
best noodle place around here|refund for order 3381|toddler shoes, wide fit
monitor arm for two screens please|my heating stopped|the wifi password doesn't work
is there a gym|when does check in start|can you move my booking to june
i need to freeze my card|why was i charged a fee|explain black holes to a child
draft a reply to this complaint|show me hiking boots|a sofa that fits in a small room
thank you, but where do i find the invoice|hello can i bring my dog|no i want the larger size
ok, and what about shipping costs|two double rooms next to each other please
shampoo without sulfates|kids bike 20 inch|a hotel in Porto with parking|Camping Stove
silver necklace|cheap phone plan with roaming|Yoga Mat|extra blanket please
Two person hammock, light|Dark chocolate without sugar please|Blue Jeans|Table Lamp
gold earrings for my mum|used car under 5000|cordless drill|suitcase with four wheels
rain boots, size 6|Face Cream|Garden Chairs|sunscreen for babies|family room with cot
breakfast in bed|airport shuttle|i left my charger in room 204|a bike for a tall person
hair dryer please|hot chocolate please|what's my balance|my transfer is pending
card not working|how do i top up|exchange rate usd to eur|i was overcharged
can you block my card|book me a massage|is the pool open|do you have vegan options
translate good morning to french|give me a recipe for pancakes|fix this sentence
who wrote hamlet|plan a weekend in Prague|what is photosynthesis|suggest a name for my cat
email to my landlord about the heating|late check in|towels please|cancel my subscription
lost my key card|too much noise next door|need a babysitter|my flight got cancelled
change address|add one more guest to my booking|Gift for teacher
coat like the one in the window|ok but not the leather one|yes and can you add a dessert
nope, show me another one|hey i need a suit|good morning, is my order ready
thanks but it still doesn't load|Winter Boots|Sports Bra|i have a problem with my invoice
cheapest flight to Athens|black friday deals|vegan leather bag|Standing Desk
a book about space for kids|smart watch that works with android|anything spicy
something under 20|do you have a discount for students|is there a sale on laptops this week
i want to buy a gift card for 100 dollars|what deals do you have on phones
need cheap flights under 300 pounds|my voucher code doesn't work
i never received my reward points|how do i unsubscribe from your emails
why was i charged £49 for my subscription|what's the phone number of customer service
call me on 07700 900123 about my order please|i clicked the link but nothing happened
free shipping over 50?|can i get a loan of 10000 for a car
what is the interest rate on your savings account|how to invest in bitcoin safely
where can i download the app|my account has been suspended, please help
i think i got a phishing message about my parcel|is this website a scam? www.shoes.example
can you send me the link to the size chart|mobile plan with unlimited data
best casino hotel in las vegas|show me the winners of the oscars|win a race in mario kart tips
how do i lose weight before summer|poker table for 8 players|dating advice please
a sexy dress for a party|order 44321 arrived broken, i want my money back!!!
URGENT need a hotel tonight in Leeds|write an advert for my bakery|is the offer still valid
2 for 1 deals on pizza|which of your plans includes free minutes|is delivery free if i pay now
i need 500 cash in euros from the atm|compare crypto exchanges for me
the price says 20% off but i was billed full price|sign me up for the newsletter
how do i register for an account|claim for my damaged luggage
new phone with good camera and free case|can i text you a photo of the defect
guarantee for the washing machine, 2 years?|gift voucher for a spa day under 150
we are a company of 20 people and need chairs|our team wants to book a dinner
we offer to pay half, is that ok|i don't know what shoes to buy|i don't know how to cook rice
what i need is a laptop|thanks, can you also book a taxi|yes and i also need a crib
hello i lost my ticket|my mother wants a new phone|no, my card is blue and it doesn't work
i want the same one in green|three pizzas for tonight|one coffee to go please
is it true that coffee is bad|good hotels in Rome|nice restaurants nearby|best places to eat
how long is the flight|maybe a tent or a hammock for camping|sure, but how much is shipping
could you repeat the last question|tell me about your return policy|i forgot my pin
i never got a confirmation|same day delivery|a plumber near me|can i have it in another color
i need it by friday|will it fit a 15 inch laptop|is it waterproof|what about the blue one
does it come with a charger|where is my refund|it arrived late|it's too small for me
i feel so alone today|my boss yelled at me again|i'm nervous about my exam|the food was cold
i want to go home|nobody answers my emails|the second one looks good but is it in stock
yes i want to cancel it|good morning can i get breakfast in the room
hi my order number 4432 is missing an item|thanks but that's the wrong one|ok so how do i pay
i can't log in|reset password|iphone charger|dog food|birthday cake|wedding dress|baby formula
cat litter|lip balm|sun hat|carbon monoxide detector|third party insurance
left handed scissors|kids menu|last minute deals|first aid kit|weekend trip
summer dress size m|early flight to Vienna|single room|double bed|family ticket|adult diapers
new tires|birthday gift|christmas tree|day cream|morning yoga class|evening gown
""",
    ("en", "greeting"): """
hi there!!|heyyyy|hellooo 👋|helo|hii :)|Good mornin|good evening to you|hey hey|yo yo|hi bot
hello assistant|morning!|evening all|hola amigo|gday mate|hi how r u doing 2day
how's it hanging|whats up buddy|hello is anyone here?|hey, how's your day going?
hi, nice to meet you|hello again my friend|how are you feeling this morning|hey ai how are you
greetings and salutations|top of the morning to you|how goes it|how have things been
hey what's happening|are you having a nice day|how's everything with you|good to see you
how do you do today|so how are you|how are you holding up today|hi hi|hey you|hope you're well
hope you are doing well today|what's good|how is your morning so far|hello computer
hey bot, you doing ok?|how are things with you these days|hey there, buddy!|hiiiii|hullo
goood morning|gm everyone|hello hello|hey man what's up|hiya how's tricks|how ya doing
well hello there|good afternoon to you|hey 😊|how was your day|are you doing alright today
how's your week been|hey bot|hello dear|hi everyone 👋👋|wassup dude|nice to see you again
how do you feel today|hi, anyone around?|hi!|hello!!!|heya|howdy partner|good eveninggg
hey what up|hello sir|good day|sup bro|hi, how are you doing?|hello how have you been
how are things going today|helllo|hy|hi team|what is up|how you been|nice to meet you bot
hey, hope you had a good weekend|is it a good day for you|how are you this fine evening
are you well|hello friend, how is life|morning, how are you|good morning sunshine|hey hey hey
ello|how's life treating you|glad to meet you|how are you today my friend
hello, how's everything going over there|what's going on with you today
how is your day going so far|good morning to you all|hi, i hope you're having a nice day
are things good with you|is everything going okay with you|how are you feeling right now
hey, what have you been doing|how are you getting on|hello there ai, how are you
are you enjoying your day|how has everything been going|hi bot, good morning
hello, good to be back|hello, is someone there|hey there, how's your morning|hiya, you alright
evening!|hola, how are you|hello hello hello|greetings, friend|hey, i'm back
good morning, how did you sleep|hi, how's it going today|hello to you too|hey you there
howdy, how are ya
""",
    ("en", "thanks"): """
thaaanks|thankssss|thank uuu|thx a lot!!|tysm 🙏|thank you kindly|thanks heaps|cheers mate
ta very much|thanks a bunch, that's perfect|many many thanks|thank you, you've been so helpful
that was really helpful|thanks for your quick reply|i really appreciate your help|thanks again
appreciate the assist|perfect, thank you|great thanks|ok thanks|ok thank you so much
wow thanks so much|thanks for nothing lol|much appreciated mate|you've been a great help
thank you for all of your assistance today|thanks for answering my question
thank you for that information|thanks for the info|i am so grateful
thank you very much for your time|thanks, that's all i needed|brilliant, cheers
thank you that is very kind of you|thanks for sorting that out|i wanted to say thank you
i just want to thank you|thanks for helping me out with that|that's awesome, thank you
thankyou so much|thanx 4 ur help|thank you for explaining that so clearly
thanks for being so patient with me|you are very kind|thanks that answers my question
thanks that's very useful|thanku|thanks loads|thank youuuu|thanks a mil|really appreciate it!
awesome, thanks a lot for the help|that helped a lot, thank you|i appreciate what you did
thanks for the tip|thank you for your support|super helpful, cheers|thank you so so much
thanks for clearing that up|got it, thank you|ok great thanks bye|i can't thank you enough
thanks, you're the best|thank you for getting back to me so quickly
i thank you for that answer|lovely, ta|thank you!|thanks!!|thx|thanks dude|tyvm
thanks so much!!|thank u so much|thanks a ton for that|that's great thanks
thanks for everything|cool thanks|okay thank you|yes thank you|no thanks needed, thank you
thank you my friend|you are a lifesaver|i'm very thankful|thanks for taking the time
thank you for being so helpful|thanks for the assist buddy
that's exactly what i needed, thanks|thank you for the quick answer
you've been very helpful, thank you|thanks it works now|thank you for listening
i appreciate your help with this|awesome, i appreciate it|that was quick, thanks
thanks a lot for all the information you gave me|ok, thanks for letting me know
thanks for checking|good answer, thank you|well thank you
thank you for that, it was really useful info|thanks, that was the answer i was looking for
i thank you for getting me that information|that's a big help, thank you
thank you, you did good|thanks, that made things way easier
cool, thanks, you helped me a lot with that|appreciate the quick help there
you did a great job thank you|thank you for doing that for me
thanks, i know i can count on you|thank you, that's what i wanted to know
i appreciate you getting that done for me|thanks for being there when i need you
thank you for setting that up|thanks, that takes a load off my mind
oh wow thanks for the heads up|thanks a lot, you really saved me there
thank you for your service today|thank you so much, have a nice day|thanks computer
that was awesome thank you for the reminder|thank you very much, you have been great
thank you thank you thank you|you've made my day, thanks|thank you, i really needed that
thanks, much better|thank you, that clears it up|thank you ever so much
thanks for your kind words|many thanks for your patience|thanks for the great service
oh thank you|great, thank you for confirming|ok that's good, thank you
thank you, all sorted now|thanks that worked|i'm grateful for your help
""",
    ("en", "goodbye"): """
byeee|bye bye!|cya later|see ya|gotta go, bye|have a good one|ttyl!|goodnight|nighty night
talk soon|catch you later|take care!|later|until next time|bye for now|ok bye|that's all, bye
i have to go now|see you tomorrow|it was lovely chatting with you|have a lovely weekend
thanks, bye|peace|i'm out|okay goodbye then|so long, farewell|signing off|see you around
good bye my friend|nice talking to you, bye|that will be all for now
have a great rest of your day|i should get going|i better go|time for me to go
speak to you tomorrow|thats everything thanks bye|cheers bye|we're done here|you may go now
it's been a pleasure speaking with you|i'm heading off now|bye and take care
catch ya on the flip side|i am leaving now|bye have a nice time|byebyeee|goodbye!!|cya
see you next week|gn|take it easy|have a fab day|ok i'm off now|laters
bye, thanks for everything|sleep well|see you soon then|i gotta run|it was nice to talk to you
all done, goodbye|chat to you tomorrow|enjoy the rest of your evening|that's it from me, bye
alright i'm going now|farewell my friend|bye|goodbye|see you|see you soon|have a nice day
good night|good night bot|bye, have a good day|ok bye bye|take care of yourself
talk to you later|cheerio|i'm done, bye|until we meet again|see u tmrw|have a great weekend
gotta run|bye bot|ok i am leaving|thats all for today|see you next time|i have to leave now
have a safe trip|it was good talking with you|thanks and goodbye|goodbye for now|ok talk later
well, bye|i'll be going now|catch u later|bye, see you monday|have fun|good bye and good luck
well, it's been fun chatting with you|bye for now, talk later|i must be going now
it was a pleasure, bye|good night and sweet dreams|okay i'm leaving, see you
we'll talk again soon|nice talk, see you later|that is all i have for today
alright, i'm going to go now|ok, bye and thanks for the help|let's talk again tomorrow
i've got to go now, bye|great chatting with you|ok bye now|bye, take care|see you in a bit
goodnight then|ciao for now|that's all thank you bye|so long friend|goodbye and thank you
i'm going to bed, good night|adios|have a nice evening|see ya later alligator
i'll talk to you tomorrow|bye, nice to meet you|okay, i'm done for today
""",
    ("en", "spam"): """
Hi its Lucy, im home alone and bored. See my pics at www.lucyxx.example
Invest $200 and get $4000 in 7 days, dm me on telegram @cryptoking
🔥🔥 FREE CRYPTO AIRDROP 🔥🔥 claim your tokens now at bit.ly/freetoken
Get rich quick with forex! My manager made me $9k last week, whatsapp +44 7700 900123
Cheap replica watches and bags, visit our shop www.rep-lux.example
Make $500 a day from home, no experience needed, sign up here
Hot girls near you are waiting, click here
Boost your instagram followers fast! Buy 10k followers for only $20
Your package is on hold, pay the customs fee at http://post-pay.example
Final notice: your subscription will be charged, call 1-888-555-0199 to cancel
We buy houses for cash, any condition! Call today
Limited offer!!! 70% off all sunglasses today only www.sunnies-deal.example
Earn passive income with our trading bot, guaranteed 30% monthly returns|asdfghjk lkjhgf
qwe qwe asd asd zxc|aaaaaaaaaaaaa|jfkdlsjfkdls fjdksl|lol lol lol lol lol lol lol
!!!!!! $$$$$ !!!!|zzzzzzzzz|hjkl hjkl hjkl|dfgdfgdfg|BUY NOW BUY NOW BUY NOW
test test test test test test|qwertyuiop|ghghghghgh|xcvbnm
Loans approved in minutes, bad credit ok, apply now at quickcash.example.com
Our agency offers web design and SEO packages at affordable prices, contact us at sales@seo.example
Lose 10kg in 2 weeks with this weird trick, order now
Join my onlyfans, first month free, link in bio
Sign up to our gambling site and get a 100% deposit bonus up to $1000
Hey sexy, I'm online now, chat with me live at www.camchat.example
Turn 100 dollars into 1000 with our bitcoin robot, register today
Claim your free iPhone 15 here >> http://free-phone.example
Your bank account is locked. Confirm your identity at http://secure-login.example
Lowest prices on meds, no rx needed, discreet shipping worldwide
Work from home and earn $3000 weekly!!! Whatsapp me now
We provide guest posts on high DA sites, reply for the price list|slkdfjslkdf|asdasdasd
hhhhhhhhhhhh|oiuytrewq|buy cheap buy cheap buy cheap buy cheap
Congratulations you have been chosen for a free cruise, call 0800 555 1234 to claim
Get your free credit report and loan up to $5000 today, bad credit no problem
Text LOVE to 63333 to meet singles in your town. 18+ £1.50/msg. STOP to opt out
Mega SALE! Designer handbags 80% off, order now at www.bags4less.example
Play slots online, 50 free spins on sign up
Cash prize of £5000 waiting for collection. Ring 09066612661 from a landline. PO Box 3
You've won! Text WIN to 81010 to claim your £500 Tesco voucher. Std rates apply
Get paid to take surveys at home! Up to $75 per survey, join today at www.surveys4cash.example
URGENT your netflix payment failed. Update your card http://netfl1x.example/login
Hi dear, I am a widow with 4.5 million dollars and need your help to transfer it
Buy followers, likes and views, instant delivery
Doctors hate him! Melt belly fat overnight with this pill
Mine bitcoin from your phone, withdraw daily, t.me/minerpro
Adult dating, no sign up, meet tonight www.meetnow.example
Cheap Rolex, Gucci, LV bags best quality, whatsapp +86 138 0013 8000
Want a loan? We offer personal loans at 2% interest, contact us today via email
Free spins! Deposit $10 get $100 bonus, play now at luckybet.example|dfjkgh dfkjgh|ffffffffff
wertyuio|promo promo promo promo promo promo|asdf|jjjjjjkkkkkkk|blah blah blah blah blah blah
Amazing opportunity!!! Be your own boss and earn 10k a month. Click the link
Congratulations! You're our 1,000,000th visitor. Claim your prize here
Refinance your mortgage now, lowest rates in 20 years, call 1-800-555-0100
Adult videos free, click now|Visit my channel and subscribe for daily crypto signals
Ur no was drawn in our spring raffle! Call 09050001122 2 get ur £900
FREE quiz night by sms! Txt BRAIN to 80999 4 a chance 2 win a tablet. 16+ only, T&Cs apply
Lonely tonite? 300 local girls r waiting 4 u. Txt MEET to 68888, £1.50/msg, 18+
Top 40 tones and logos for ur phone, only 30p each! Reply TOP to 80777
Loyal customer! 900 bonus points are unclaimed. Ring 08712224444 before Sunday
Final call! You were picked for a 5 star cruise or £3000 cash. Phone 09061112222 now, PO Box 77
A secret friend likes u! To find out who call 09058887777. Std rates apply
""",
    ("en", "bare_reply"): """
yes|yep|yup sure|nope|nah|the second one|42|jp|ok then|alright then|ok cool|maybe later
not really|i don't think so|sure why not|fine by me|7pm|at 18:00|tomorrow|next friday
two adults|john smith|Anna Kowalska|the blue one|the cheaper one|that one|both please|neither
no idea|hmm|lol ok|i guess so|yeah that's right|no that's wrong|that's correct|i'm not sure
i couldn't tell you|of course|yes i am|no i'm not|yes it is|no it isn't|not at the moment
sounds good to me|whatever you think|it's up to you|absolutely not|no way|yes that works
ok got it|i see|k|okey dokey|on the 5th|around 3|about 20|my name is Tom|it's Tom
from monday to friday|5 nights|until sunday|for two people|march 3rd|yes it was|none of those
the last one please|option b|i'm not certain about that|i really don't know|i have no clue
that's not true|that is true|you got it|you bet|no thank you|nothing|all good|don't know yet
can't remember|not that i know of|i believe so|i would say no|indeed it is|correct|wrong|false
👍 ok|ok 👌|sounds about right|yes, on tuesday|no, just me|i said no|yes of course
i think that's right|probably not|it could be|i'm on the fence|i am not too sure|yess|nopee
yeah sure|the third|17|DE|okie dokie|perhaps|sunday afternoon|3 kids|Maria Gonzalez
the red one|not now|i doubt it|haha yes|no not yet|fine|that's it|i'm not positive|yes exactly
it is|it isn't|nobody knows|ok go ahead|the 21st of june|at noon|around 9ish|just me|six of us
yes that is right|no it is not|your guess is as good as mine|can't say|cool
my surname is Lopez|that's fine with me|no preference|hmm not sure|sure thing|yes please|ya
yeahh|no.|no thanks|never|sure|sure!|ok|okay sounds good|k thanks no|works for me|it depends
i forget|i'm unsure|i have no idea|yes, that's right|no, that's not it|wednesday|6 pm
next week|3|three|ten people|one night|paris|Berlin|Emma Wilson|Peter|ok fine|the first one
first|option 2|b|the smaller one|the green one please|none|any|either is fine|all of them
doesn't matter|i don't care|you decide|maybe tomorrow|tomorrow morning|in two weeks
on monday at 5|it was last year|two weeks ago|uh huh|mhm|lol|haha nice|wow|oh i see
hmm let me think|that's fine|that is not true|that's false|that sounds right|that's for sure
certainly not|definitely yes|i agree|i disagree with that|i don't believe so|i suppose it is
not quite sure yet|it's hard to say|i can't say for sure|who knows|beats me|affirmative
negative|fr|en|m|female|yes i would|no i wouldn't|i have to say no|my answer would be yes
that's a yes from me|that's not the case|i'd say that's true|yes, that's what i want
no, i do not|no i'd rather not|i'm not sure about that one|it's a possibility|it may be so
perhaps, but i'm not certain|i can neither confirm nor deny|that's a big no|i have to disagree
yes, i agree with that|yes, you can do that|no, please don't|nope, that is not what i said
yes that is exactly what i meant|no i didn't make that payment|yes i did|i haven't decided yet
not as far as i know|i couldn't be sure about that|there's no doubt about it|that is a fact
don't do that|no don't|that's definitely wrong|yes, go for it|correct, that is true
i suppose that might be true|let me get back to you on that|no, never mind that
yes for three people|no just the one night|yes that sounds good|no thank you very much
i would think so|i'm leaning towards no|well, i guess so|um, yes|uh, no|hmm, maybe|okay yes
ok no|yes yes yes|no no no|not in the slightest|it's not true|that would be correct
that would be a no|i'm pretty sure it is|i highly doubt that|i'm afraid not|i think not
you can say that|that's a definite maybe|there's a chance|who can say|i wish i knew
yes, for tomorrow|it would be for 4 people|make it two|the 3rd of may please|half past nine
from tuesday on|just one night|my mother and me|arriving around noon|i can't really say
don't remember, sorry|i'm not entirely sure about it|possibly, i don't know
""",
}
