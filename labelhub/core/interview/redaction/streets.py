"""Words for streets: after a name, at the end of one, or before it; alternatives of a pattern."""

import re

_AFTER_NAMES = re.findall(
    r"\w+",
    "street st avenue ave av boulevard blvd road rd lane ln drive dr court ct crescent cres terrace"
    " ter terr highway hwy parkway pkwy way place pl square sq close circle cir trail trl alley row"
    " mews grove gardens green greens hill dale isle park walk wharf quay bypass loop pike turnpike"
    " plaza point ridge route heights view esplanade parade",
)
#: After a number and a name: "12 Main St". Only with a capital letter: "2 Apples way too small".
STREET_WORDS = "(?-i:" + "|".join(f"{word.title()}|{word.upper()}" for word in _AFTER_NAMES) + ")"
#: At the end of a name or after it: "Hauptstraße 12", "Fejedelem útja 3".
STREET_ENDINGS = (
    "straße|strasse|str\\.|strase|gasse|platz|allee|damm|ufer|steig|chaussee|promenade|weg"
    "|straat|laan|plein|gracht|kade|dijk|steenweg|singel"
    "|gatan|gata|vägen|gränd|torget|stigen|veien|vegen|gaten|gade|vej|stræde|allé"
    "|katu|kuja|polku|rinne|kaari|stræti|straeti|gerði|braut"
    "|utca|útja|körút|sétány|tänav|puiestee|maantee|iela|gatvė|gatve|ulica|ulice|náměstí"
    "|улица|ул\\.|проспект|переулок|sokak|sokağı|caddesi|cad\\."
)
#: Before a name: "rue de la Paix", "Calle Mayor 5". Not the Italian "Via", a word of English too.
STREET_STARTS = (
    "rue|avenue|av\\.?|boulevard|bd\\.?|blvd|place|chemin|impasse|allée|quai|route|cours|square"
    "|ruelle"
    "|calle|c/|avenida|avda?\\.?|paseo|pº|plaza|pza\\.?|carrer|camino|carretera|ronda|glorieta|rúa"
    "|viale|v\\.le|piazza|p\\.za|corso|c\\.so|vicolo|largo|strada|contrada|lungomare"
    "|rua|r\\.|travessa|praça|alameda|estrada|rodovia"
    "|ul\\.?|ulica|al\\.|aleja|os\\.|pl\\.|plac|ulice|nám\\.|улица|ул\\.|проспект|пр\\.|пер\\."
    "|jalan|jl\\.|strada|str\\.|calea|bulevardul|οδός|λεωφόρος|straat"
)
